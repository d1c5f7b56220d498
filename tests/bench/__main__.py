"""All benchmarks, one after another; the exit code is 1 where a target is missed."""

from __future__ import annotations

import argparse
import importlib
import sys

from .ratios import show

NAMES = ("startup", "readers", "kernels", "step", "suite", "sensitivities", "sweep", "eig", "ida", "scale", "wecc",
         "unknowns", "chosen", "large")


def main(names: list[str]) -> int:
    """Run the benchmarks of these names, all by default."""
    met = True
    for name in names or NAMES:
        module = importlib.import_module(f".{name}", __package__)
        met &= show(module.__doc__.splitlines()[0], module.measure())
    return 0 if met else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    asked = parser.parse_args().names
    if unknown := set(asked) - set(NAMES):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    sys.exit(main(asked))
