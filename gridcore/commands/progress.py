"""A progress bar for what takes longer than two seconds: on standard error, and only on a terminal."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from typing import Any

PATIENCE = 2.0
_RESOLUTION = 0.002  # of the whole: finer would cost time and show nothing


class Progress:
    """``with Progress("simulating", total=10.0) as tell: ...; tell(3.2)``.

    Without a total it shows that something goes on. Nothing is shown in the first two seconds; nothing stays behind.

    Parameters
    ----------
    what : str
    total : float, optional
        What is told when all is done.
    quiet : bool
        Show nothing.
    unit : str
        What is counted, ``"runs"``: how many there are, and how many in a second, is shown as well.
    """

    def __init__(self, what: str, total: float | None = None, quiet: bool = False, unit: str = ""):
        self.what, self.total, self.done, self.unit = what, total, 0.0, unit
        self._begun, self._shown, self._lock = time.monotonic(), 0.0, threading.Lock()
        self._bar: Any = None
        self._timer = threading.Timer(PATIENCE, self._show) if not quiet and sys.stderr.isatty() else None
        if self._timer:
            self._timer.daemon = True

    def __enter__(self) -> Progress:
        if self._timer is not None:
            self._timer.start()
        return self

    def __call__(self, done: float) -> None:
        """How far it is."""
        self.done = done
        if self._bar is not None and done - self._shown >= _RESOLUTION * (self.total or 0.0):
            self._shown = done
            self._bar.update(self._task, completed=done, rate=done / (time.monotonic() - self._begun))

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        with self._lock:
            if self._timer is None:  # over in the meantime
                return
            how_far = "{task.percentage:>3.0f} %"
            if self.unit:
                how_far += "  {task.completed:.0f} of {task.total:.0f} " + self.unit + ", {task.fields[rate]:.3g}/s"
            shown = (TextColumn(how_far), TimeRemainingColumn()) if self.total is not None else (TimeElapsedColumn(),)
            bar = Bar(TextColumn("{task.description}"), BarColumn(), *shown, transient=True,
                      console=Console(stderr=True))
            self._task = bar.add_task(self.what, total=self.total, rate=0.0)
            bar.update(self._task, completed=self.done)
            bar.start()
            self._bar = bar

    def __exit__(self, *_: object) -> None:
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            if self._bar is not None:
                with contextlib.suppress(OSError):  # of a terminal that has been closed
                    self._bar.stop()
                self._bar = None
