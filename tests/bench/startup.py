"""What starting costs: imports, ``gridcore --help`` and a run that finds its kernels, each in a fresh process.

Beside them stands what it costs to import numpy, in the same minute. Times are those of the processor, user and
system: on a machine that is shared they say what they say on a quiet one.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable

from .ratios import Ratio, show

NUMPY = "import numpy"
BELOW = "import numpy, scipy.sparse, casadi"
NAME = "import gridcore"
# everything that building and running a case needs, which `import gridcore` leaves for when it is used
USE = "from gridcore import build, simulate, load_case; from gridcore_theta.stepper import Theta"
_MAIN = "from gridcore.commands.main import main; main()"


def _python(code: str, *arguments: str) -> None:
    subprocess.run([sys.executable, "-c", code, *arguments], check=True, stdout=subprocess.DEVNULL)


def processor(*calls: Callable[[], None], rounds: int) -> list[float]:
    """Of each call the least seconds of the processor that its processes took; in turns, so that all meet the same."""
    least = [float("inf")] * len(calls)
    for _ in range(rounds):
        for k, call in enumerate(calls):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            call()
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            least[k] = min(least[k], after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return least


def commands(rounds: int = 5) -> list[Ratio]:
    """``gridcore --help``, and a second ``gridcore run wscc9``: half a second and one, beside numpy's import."""
    with tempfile.TemporaryDirectory() as directory:
        run = ("run", "wscc9", "--out", directory)
        _python(_MAIN, *run)
        numpy, told, second = processor(lambda: _python(NUMPY), lambda: _python(_MAIN, "--help"),
                                        lambda: _python(_MAIN, *run), rounds=rounds)
    return [Ratio(f"`gridcore {what}` / {allowed} s", seconds / allowed, 1.0,
                  f"{seconds:.2f} s, {seconds / numpy:.1f} times `{NUMPY}` ({1e3 * numpy:.0f} ms)")
            for what, seconds, allowed in (("--help", told, 0.5), ("run wscc9", second, 1.0))]


def imports(rounds: int = 9) -> list[Ratio]:
    """What the imports cost."""
    below, name, use = processor(*(lambda code=code: _python(code) for code in (BELOW, NAME, USE)), rounds=rounds)
    told = f"{1e3 * name:.0f} ms, {1e3 * below:.0f} ms for {BELOW}"
    return [Ratio(f"{NAME} / {BELOW}", name / below, 1.3, told),
            Ratio("the same with all that a run needs", use / below, None, f"{1e3 * use:.0f} ms")]


def measure(rounds: int = 9) -> list[Ratio]:
    """Ratios of imports; and the command line against what it may take."""
    return [*imports(rounds), *commands()]


if __name__ == "__main__":
    show(__doc__.splitlines()[0], measure())
