"""Ctrl-C, and other signals with a handler of Python, where what is under way can be kept."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Held:
    """Inside this block a signal waits until :meth:`release` is called, or the block ends. A second one does not wait
    if it is SIGINT, or the same again: one insists. What a block inside another one has not released waits on there.
    `waiting` is the number of the signal that does, or 0; `insisted`, whether one came in the middle of anything.
    """

    def __enter__(self) -> Held:
        self.waiting, self.insisted, self._before = 0, False, dict[int, Any]()
        if threading.current_thread() is threading.main_thread():
            self._before = {number: now for number in SIGNALS if callable(now := signal.getsignal(number))}
            for number in self._before:
                signal.signal(number, self._come)
        return self

    def _come(self, number: int, frame: FrameType | None) -> None:
        if self.waiting and number in (self.waiting, signal.SIGINT):
            self.waiting, self.insisted = number, True
            self.release()
        self.waiting = self.waiting or number

    def release(self, number: int = 0) -> None:
        """Handle the signal that waits here, or in blocks around this one, or else the one given, if any."""
        number, self.waiting = self.waiting or number, 0
        if isinstance(around := getattr(next(iter(self._before.values()), None), "__self__", None), Held):
            around.release(number)
        elif number:
            self._before[number](number, None)

    def __exit__(self, kind: type[BaseException] | None, *error: Any) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        if kind is None and (number := self.waiting):
            self._before[number](number, None)
