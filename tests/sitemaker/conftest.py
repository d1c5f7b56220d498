"""The makers of the site's pages stand beside them, in docs/, and are no package of gridcore."""

import sys
from pathlib import Path

DOCS = Path(__file__).parent.parent.parent / "docs"
sys.path.append(str(DOCS))
