"""Values that make no sense, put aside one by one: a case that can be built, with a note of each."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gridcore.case import Case, validate
from gridcore.contract import REQUIRED, Record
from gridcore.errors import CaseError

ROUNDS = 10_000  # each finds one fault


def mend(case: Case) -> None:
    """Ignore what :func:`gridcore.case.validate` refuses: a saturation or a limit before a device, a device at last."""
    for record, error in _refused(case):
        case.note(f"as tolerated, {_mended(case, record, error)}: {error}")


def found(case: Case) -> list[CaseError]:
    """All that is wrong with the rows of a case, not only the first."""
    case, faults = case.copy(), []
    for record, error in _refused(case):
        faults.append(CaseError(re.sub(r" \(and \d+ more\)$", "", str(error))))
        case.records = [other for other in case if other is not record]
    return faults


def _refused(case: Case) -> Iterator[tuple[Record, CaseError]]:
    """A record that is refused, and why, as long as there is one; something is done about it before the next."""
    for _ in range(ROUNDS):
        try:
            validate(case)
            return
        except CaseError as error:
            at = [record for record in case if (record.file, record.row) == (error.file, error.row)]
            if not at:
                raise
            yield at[-1], error


def _mended(case: Case, record: Record, error: CaseError) -> str:
    """What was done about a fault."""
    params, fields = record.device.declares.params, record.fields
    if error.field in fields and error.field in params:
        limits = [name for name in fields if name in params and f"{name} =" in str(error)]
        gone = [name for name in (error.field, *limits) if params[name].default is not REQUIRED]
        if len(gone) == 1 + len(limits):
            for name in gone:
                del fields[name]
            return f"{' and '.join(gone)} ignored"
    curve = [name for name in fields if name in params and params[name].doc.startswith("saturation at")]
    if any(fields[name] for name in curve) and (not error.field or error.field in curve):
        fields.update(dict.fromkeys(curve, 0.0))
        return "the saturation ignored"
    case.records = [other for other in case if other is not record]
    return f"the {record.model} left out"
