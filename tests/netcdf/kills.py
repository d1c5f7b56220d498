"""Saves that are killed at drawn moments: ``python -m tests.netcdf.kills 200``."""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

import gridcore as gc


def kill_while_saving(folder: Path, count: int, seed: int) -> int:
    """Kill a process that saves two runs in turn, so many times; returns how often the file was one of them, whole."""
    path, draw, whole = folder / "x.nc", random.Random(seed), 0
    runs = [gc.simulate(gc.build("hiskens_pai"), t_end=t, step=0.02) for t in (0.2, 0.4)]
    expected = {run.X.tobytes() for run in runs}
    for _ in range(count):
        process = os.fork()
        if not process:
            while True:
                for run in runs:
                    run.save(path)
        time.sleep(draw.uniform(0.0, 0.3))
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        whole += not path.exists() or gc.load_run(path).X.tobytes() in expected
        runs[0].save(path)  # as the next one does
        assert [p.name for p in folder.iterdir()] == ["x.nc"]
    return whole


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    with tempfile.TemporaryDirectory() as folder:
        print(f"{kill_while_saving(Path(folder), count, 0)} of {count} kills left a whole file")
