"""``gridcore sweep``, but every scenario that is begun leaves a line in a log: LOG MOST OPTIONS..."""

from __future__ import annotations

import signal
import sys
from functools import partial
from pathlib import Path

from sweep_tasks import logged

import gridcore_sweep.sweep
from gridcore.commands import main

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # tests that run in the background of a shell ignore it
    log, most, *options = sys.argv[1:]
    gridcore_sweep.sweep.work = partial(logged, Path(log), int(most))
    sys.argv[1:] = ["sweep", *options]
    main()
