"""The one exception family: every error says what is wrong, where, and what would be right."""

from __future__ import annotations

from typing import Any

__all__ = ["CaseError", "CompilerWarning", "ConvergenceError", "DataWarning", "DeviceError", "EventError",
           "GridcoreError", "InitialisationError", "Interrupted", "MissingDependency", "NetworkError", "NotRecorded",
           "PluginError", "PluginWarning", "PowerFlowError"]


class GridcoreError(Exception):
    """Base of everything gridcore raises on purpose. The command line prints it on one line."""


class CaseError(GridcoreError):
    """A case is wrong: carries file, row and field where they are known."""

    def __init__(self, message: str, *, file: str = "", row: str = "", field: str = ""):
        self.file, self.row, self.field = file, row, field
        place = ": ".join(part for part in (file, row, field and f"field '{field}'") if part)
        super().__init__((f"{place}: {message}" if place else message).replace("\n", " "))  # names may have any letter


class DataWarning(UserWarning):
    """Data, or an initial state, that are allowed and hardly meant: says which, where, and what is plausible."""


class DeviceError(GridcoreError):
    """A device class breaks its contract (found while it is declared or traced)."""


class PluginError(GridcoreError):
    """A plugin cannot be loaded, does not do what it must, or two of them claim one name."""


class PluginWarning(UserWarning):
    """A plugin, or a device of it, is faulty and skipped."""


class NetworkError(GridcoreError):
    """The network is not one that can be solved: an island without a voltage source, no slack."""


class ConvergenceError(GridcoreError):
    """A solve failed: carries the place (bus or device), the time, and the run so far; may end with what to try."""

    def __init__(self, message: str, *, place: str = "", t: float | None = None, advice: str = ""):
        self.place, self.t = place, t
        self.run: Any = None  # the Run up to here
        where = (f" at {place}" if place else "") + (f" at t = {t:.9g} s" if t is not None else "")
        super().__init__(message + where + advice)


class PowerFlowError(ConvergenceError):
    """The power flow does not converge."""


class InitialisationError(ConvergenceError):
    """Devices cannot be brought to an equilibrium at the operating point."""


class EventError(ConvergenceError):
    """An event is grazing, chattering or cannot be located: names the guard."""


class NotRecorded(GridcoreError):
    """A run kept only some quantities, and this is not one of them."""


class MissingDependency(GridcoreError):
    """An optional package is asked for and not there: says how to get it."""


class Interrupted(GridcoreError):
    """The user, or a signal, stopped it; says what is kept. The command line exits with 128 + `signal`."""

    def __init__(self, message: str, signal: int = 2):
        self.signal = signal
        super().__init__(message)


class CompilerWarning(UserWarning):
    """There is no C compiler, or it fails, and what it said: equations are interpreted. Or its cache is not used."""
