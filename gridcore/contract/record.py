"""A record: the model of a device and its fields, as a case gives them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..errors import CaseError, PluginError
from ..registry import registries as plugins

if TYPE_CHECKING:
    from .device import Device


@dataclass(repr=False)
class Record:
    """One row of a case: a device model and its fields, as they were given.

    Calling a device class makes one: ``gc.BusFault(bus=7, t=0.1, clear=0.183)``.

    Parameters
    ----------
    model : str
        Name of the device class.
    fields : dict
        Parameters, words and ports by name, and ``id`` where it has one.
    file, row : str
        Where it was read from (``"Line row 3 (line 27)"``), for error messages.
    """

    model: str
    fields: dict[str, Any]
    file: str = field(default="", compare=False)
    row: str = field(default="", compare=False)

    def __repr__(self) -> str:
        return f"{self.model}({', '.join(f'{k}={v!r}' for k, v in self.fields.items())})"

    @property
    def device(self) -> type[Device]:
        """The class of that name, whichever plugin has it."""
        try:
            return plugins.devices[self.model]
        except PluginError as error:
            own = "" if self.file else f"; a class of your own is made known by gc.register({self.model})"
            raise self.error(f"{error}{own}") from None

    def error(self, message: str, field: str = "") -> CaseError:
        """An error that says where this record stands."""
        return CaseError(message, file=self.file, row=self.row or repr(self), field=field)
