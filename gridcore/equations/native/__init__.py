"""Native code, all of it: the C loops, their binding, what stands in for them, and the compiler.

:func:`load` gives the loops as an object, and what a set of sources is compiled to. Where no compiler works, these are
:data:`FALLBACK` and :data:`INTERPRETER`, which have the same methods: nobody has to ask which of them he has.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from .compiler import compile_libraries, compiler_path
from .fallback import FALLBACK, Fallback
from .interpreted import INTERPRETER, Direct, Interpreter
from .library import Library
from .native import SOURCE, Native

Runtime = Native | Fallback
Kernels = Library | Interpreter

__all__ = ["FALLBACK", "INTERPRETER", "Direct", "Fallback", "Kernels", "Library", "Native", "Runtime", "load",
           "runtime"]


def load(sources: Sequence[str]) -> tuple[Runtime, list[Kernels]]:
    """The loops, and the libraries of the sources, compiled side by side where they are not in the cache.

    Returns
    -------
    runtime : Native or Fallback
    libraries : list of Library or Interpreter
        One for each source.
    """
    libraries = compile_libraries([SOURCE.read_text(), *sources])
    if libraries is None:
        return FALLBACK, [INTERPRETER] * len(sources)
    return Native(libraries[0]), [*libraries[1:]]


def runtime() -> Runtime:
    """The loops alone."""
    return _runtime(compiler_path())


@functools.cache
def _runtime(cc: str | None) -> Runtime:
    return load([])[0]
