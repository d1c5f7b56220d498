"""What starting costs: ``import gridcore`` against importing what it stands on, each in a fresh process."""

from __future__ import annotations

import subprocess
import sys
import tempfile

from .ratios import Ratio, best, show

BELOW = "import numpy, scipy.sparse, casadi"
NAME = "import gridcore"
# everything that building and running a case needs, which `import gridcore` leaves for when it is used
USE = "from gridcore import build, simulate, load_case; from gridcore_theta.stepper import Theta"


def _python(code: str, *arguments: str) -> None:
    subprocess.run([sys.executable, "-c", code, *arguments], check=True, stdout=subprocess.DEVNULL)


def second_run() -> float:
    """Seconds of a `gridcore run wscc9` that finds its kernels compiled."""
    with tempfile.TemporaryDirectory() as directory:
        def run() -> None:
            _python("from gridcore.commands.main import main; main()", "run", "wscc9", "--out", directory)

        run()
        return best(run, rounds=2)[0]


def imports(rounds: int = 9) -> list[Ratio]:
    """What the imports cost."""
    below, name, use = best(*(lambda code=code: _python(code) for code in (BELOW, NAME, USE)), rounds=rounds)
    told = f"{1e3 * name:.0f} ms, {1e3 * below:.0f} ms for {BELOW}"
    return [Ratio(f"{NAME} / {BELOW}", name / below, 1.3, told),
            Ratio("the same with all that a run needs", use / below, None, f"{1e3 * use:.0f} ms")]


def measure(rounds: int = 9) -> list[Ratio]:
    """Ratios of imports, and a run of the command line that finds its kernels compiled."""
    second = second_run()
    return [*imports(rounds), Ratio("second `gridcore run wscc9` / 2 s", second / 2, 1.0, f"{second:.2f} s")]


if __name__ == "__main__":
    show(__doc__.splitlines()[0], measure())
