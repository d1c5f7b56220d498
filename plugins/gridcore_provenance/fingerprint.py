"""What a case says, as a few letters: the same however it was written down, and on every machine."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gridcore.case import ValidCase


def digest(what: Any) -> str:
    """A digest of plain data, the same on every machine."""
    text = json.dumps(what, default=lambda value: value.item())
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def case_digest(valid: ValidCase) -> str:
    """What a case says, however it was written down."""
    return digest([valid.base_mva, valid.frequency,
                   [[i.id, i.model, sorted(i.values.items()), sorted(i.words.items()), list(i.ports.items()),
                     i.in_service] for i in valid.records]])
