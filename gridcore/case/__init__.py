"""Cases as data: records, validation, units and files.

Imports from ``contract`` and what is left of it. Nothing in a case is ever executed.
"""

from .addresses import Address, Named, is_pattern, matching, patterns_of, split
from .files import as_case, existing, load_case, save_case, shipped
from .records import Case
from .units import Base, convert
from .validation import Instance, ValidCase, validate, validate_again

__all__ = ["Address", "Base", "Case", "Instance", "Named", "ValidCase", "as_case", "convert", "existing", "is_pattern",
           "load_case", "matching", "patterns_of", "save_case", "shipped", "split", "validate", "validate_again"]
