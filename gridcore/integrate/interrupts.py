"""Ctrl-C, and other signals with a handler of Python, where what is under way can be kept."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Held:
    """Inside this block a signal waits until :meth:`release` is called, or the block ends; a second one does not wait.

    Attributes
    ----------
    waiting : int
        The signal that waits; 0 if none does.
    """

    def __enter__(self) -> Held:
        self.waiting = 0
        self._before: dict[int, Any] = {}
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.getsignal(number) for number in SIGNALS
                            if callable(signal.getsignal(number))}
            for number in self._before:
                signal.signal(number, self._come)
        return self

    def _come(self, number: int, frame: FrameType | None) -> None:
        if self.waiting:
            self._before[number](number, frame)
        self.waiting = number

    def release(self) -> None:
        """Handle the signal that waits, if one does."""
        number, self.waiting = self.waiting, 0
        if number:
            self._before[number](number, None)

    def __exit__(self, kind: type[BaseException] | None, *error: Any) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        if kind is None:
            self.release()
