"""How near numbers come to the bounds that tests set them: ``pytest --margins FILE``, and all processors together.

Of every comparison with a small bound (``assert_allclose``, ``pytest.approx``, ``assert error < 1e-9``) the worst ratio
of the error to its bound is kept in FILE, by the line that has it; runs of other processors into the same file add to
it. ``python tests/margins.py FILE`` shows what is above one half, and says which have a reason (``margins.txt``).

``python tests/margins.py --all FILE`` runs the numerical suites as on each processor that this machine can be, and
shows that; ``--others FILE`` their quick tests as on those that differ from it, as CI does once it has run all tests.
numpy, BLAS and libm differ between processors in the last digit; a bound that is met by less than a factor of two is
likely to be missed on one that nobody tried.
"""

from __future__ import annotations

import argparse
import json
import linecache
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bounds import HERE, note, worst

REASONS = HERE / "margins.txt"
HALF = 0.5
# Of numbers: the rest is of files, words and processes.
SUITES = (
    "autodiff", "bdf", "blocks", "case", "cases", "contract", "converters", "crosscheck", "dense", "devices",
    "equations", "equilibrium", "estimation", "export", "ida", "integrate", "klu", "linear", "network",
    "objectives", "optimisation", "playback", "readers", "reference", "results", "rotors", "sensitivity",
    "smallsignal", "stretch", "system", "tape", "theta", "trbdf2", "tsa")
NATIVE = "this machine"
PROCESSORS: dict[str, dict[str, str]] = {
    NATIVE: {},
    "Haswell": {"OPENBLAS_CORETYPE": "Haswell"},
    "Zen": {"OPENBLAS_CORETYPE": "Zen"},
    "no AVX-512": {"NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR"},
    "no AVX2": {"OPENBLAS_CORETYPE": "Sandybridge", "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
                "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2_Usable,-AVX2,-FMA_Usable,-FMA,-FMA4_Usable,-FMA4"},
    "interpreted": {"GRIDCORE_NO_COMPILER": "1"},
    "SkylakeX": {"OPENBLAS_CORETYPE": "SkylakeX"},
}
# What numpy, scipy and their BLAS take a processor for.
_PROBE = """
import numpy._core._multiarray_umath as umath, scipy.linalg
print(sorted(name for name, there in umath.__cpu_features__.items() if there))
"""


class Notes:
    """The plugin of pytest: what passed is noted; what the workers noted is put together."""

    def __init__(self, file: str):
        self.file = Path(file)

    def pytest_sessionfinish(self, session: Any) -> None:
        """Give what was noted to the process that started this one, or write it."""
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output["margins"] = worst
            return
        if self.file.exists():
            for site, ratio in json.loads(self.file.read_text()).items():
                note(site, ratio)
        self.file.write_text(json.dumps(worst, indent=0, sort_keys=True))

    def pytest_testnodedown(self, node: Any) -> None:
        """A worker of pytest-xdist has ended."""
        for site, ratio in getattr(node, "workeroutput", {}).get("margins", {}).items():
            note(site, ratio)


def reasons() -> dict[str, str]:
    """Lines of tests (file and text) that may come near their bound, and why."""
    lines = [line for line in REASONS.read_text().splitlines() if line and not line.startswith("#")]
    return dict(part.rsplit(" # ", 1) for part in lines)


def near(file: Path) -> Iterator[tuple[float, str, str, str | None]]:
    """Ratio, place, text and reason of what comes nearer to its bound than one half."""
    known = reasons()
    for site, ratio in sorted(json.loads(file.read_text()).items(), key=lambda item: -item[1]):
        path, number = site.rsplit(":", 1)
        text = linecache.getline(str(HERE / path), int(number)).strip()
        if ratio > HALF:
            yield ratio, site, text, known.get(f"{path}: {text}")


def show(file: Path) -> bool:
    """Print what is near its bound; whether all of it has a reason."""
    good = True
    for ratio, site, text, reason in near(file):
        print(f"{ratio:6.3f}  {site}: {text}" + (f"\n        {reason}" if reason else ""))
        good &= reason is not None
    return good


def possible(name: str) -> bool:
    """Whether this machine can be that processor."""
    return name != "SkylakeX" or "avx512f" in Path("/proc/cpuinfo").read_text()


def kind(name: str) -> tuple[str, ...]:
    """All in which a processor differs from another for the programs that are run."""
    environment = {**os.environ, **PROCESSORS[name], "OPENBLAS_VERBOSE": "2"}
    said = subprocess.run([sys.executable, "-c", _PROBE], env=environment, capture_output=True, text=True, check=True)
    return said.stdout, said.stderr, environment.get("GRIDCORE_NO_COMPILER", "")


def run_all(file: Path, others: bool = False, call: Callable[..., Any] = subprocess.run) -> bool:
    """Run the numerical suites on every kind of processor, on others their quick tests; whether all passed."""
    good, seen = True, dict[tuple[str, ...], str]()
    for name in filter(possible, PROCESSORS):
        like = seen.setdefault(kind(name), name)
        print(f"== {name}" + (f": as {like}" if like != name else ""), flush=True)
        if like != name or (others and name == NATIVE):
            continue
        done = call([sys.executable, "-m", "pytest", "-q", "-n", "auto", "--dist", "worksteal",
                     "-m", "not slow" if others else "", "--margins", str(file),
                     *(str(HERE / suite) for suite in SUITES)], env={**os.environ, **PROCESSORS[name]})
        good &= done.returncode == 0
    return good


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--all", action="store_true")
    words.add_argument("--others", action="store_true")
    words.add_argument("file", nargs="?", type=Path, default=Path("margins.json"))
    asked = words.parse_args()
    passed = run_all(asked.file.absolute(), asked.others) if asked.all or asked.others else True
    reasoned = show(asked.file)
    sys.exit(not (passed and reasoned))
