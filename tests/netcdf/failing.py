"""Writes that fail when they are told to, and runs that are small enough to fail at each of them."""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager

import gridcore as gc

WRITES = ("pwrite", "pread", "ftruncate", "fsync", "replace")


def small(system):
    """A run with events, of a few dozen points."""
    return gc.simulate(system, t_end=0.4, step=0.02)


@contextmanager
def failing(monkeypatch, at, error=errno.ENOSPC, calls=WRITES):
    """Within it the `at`-th call that reaches the disk fails, and all after it; the list counts them."""
    made = []

    def counted(name, original):
        def call(*args, **named):
            made.append(name)
            if len(made) >= at:
                raise OSError(error, os.strerror(error))
            return original(*args, **named)
        return call

    with monkeypatch.context() as patch:
        for name in calls:
            patch.setattr(os, name, counted(name, getattr(os, name)))
        yield made
