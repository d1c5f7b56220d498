"""Equations that jump where nothing switches, or that are no numbers with the defaults of their parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from gridcore.contract import REQUIRED
from gridcore.equations import Symbol, vector_function
from gridcore.testing import NotExamined, Wrong

if TYPE_CHECKING:
    from .devices import Subject

_LINES, _INTERVALS = 8, 64  # straight lines through the values of variables, and parts of each that are looked at
_FAR = 0.95  # from the first guess, either way: no voltage turns round
_DISTANT = 10.0  # an input whose default is beyond has that where nothing drives it, and is asked whether it has
_HALVINGS = 40  # of the part that changes the most: round-off is left
_JUMP = 1e-6  # of 1 + |value|: over what the halvings leave of a line that is a slope of 1e8
_LARGE = 1e6  # beside a pole values are larger

_RUNNING = ("rate of", "residual of", "real current", "imaginary current", "flow into")


def continuous(subject: Subject) -> str:
    """No equation jumps along straight lines in the variables and in time: a jump is an event, of a guard.

    On each line the part in which a function changes the most is halved again and again: what is left of the change
    is a jump. Guards may jump where another one acts, and it is an error of the run where none does.
    """
    rows = [k for k, name in enumerate(subject.names) if name.startswith(_RUNNING)]
    if not rows:
        raise NotExamined("it has no equations")
    symbols, outputs = list(subject.trace.symbols), [subject.outputs[k] for k in rows]
    function = vector_function("outputs", list(subject.trace.symbols.values()), outputs)
    start, end = _ends(subject, symbols)
    along = end - start

    def at(part: np.ndarray, line: np.ndarray) -> np.ndarray:
        """(outputs, points) where so much of each line is behind."""
        return np.asarray(function.map(len(line))(start[:, line] + part * along[:, line]))

    problems: dict[int, str] = {}
    for k, line, part, change in _jumps(at, len(rows)):
        place = start[:, line] + part * along[:, line]
        reads = [symbol for symbol in subject.trace.symbols_of(outputs[k]) if subject.trace.kind(symbol) in "xut"]
        where = (f"{'.'.join((*path, name))} = {place[symbols.index((path, name))]:.4g}" for path, name in reads)
        problems.setdefault(k, f"{subject.names[rows[k]]} jumps by {change:.4g} at {', '.join(where)}: let a guard "
                               "find what decides that, and set a mode")
    if problems:
        raise Wrong(*problems.values())
    return f"{len(rows)} expressions do not jump along {_LINES} lines"


def _jumps(at: Callable[[np.ndarray, np.ndarray], np.ndarray], count: int) -> Iterator[tuple[int, int, float, float]]:
    """Which of so many functions jumps, on which line, behind which part of it, and by how much."""
    parts, lines = np.meshgrid(np.linspace(0, 1, _INTERVALS + 1), np.arange(_LINES))
    change = np.abs(np.diff(at(parts.ravel(), lines.ravel()).reshape(count, _LINES, -1), axis=2))
    first = np.argmax(np.where(np.isfinite(change), change, -1.0), axis=2).ravel()
    own, line = np.repeat(np.arange(count), _LINES), np.tile(np.arange(_LINES), count)

    def values(part: np.ndarray) -> np.ndarray:
        return at(part, line)[own, np.arange(len(own))]

    low, high = first / _INTERVALS, (first + 1) / _INTERVALS
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        below, between, above = map(values, (low, middle, high))
        upper = np.abs(above - between) > np.abs(between - below)
        low, high = np.where(upper, middle, low), np.where(upper, high, middle)
    below, above = values(low), values(high)
    size = np.maximum(np.abs(below), np.abs(above))
    for k in np.flatnonzero((np.abs(above - below) > _JUMP * (1 + size)) & (size < _LARGE)):
        yield int(own[k]), int(line[k]), float(low[k]), float(abs(above - below)[k])


def _ends(subject: Subject, symbols: list[Symbol]) -> tuple[np.ndarray, np.ndarray]:
    """Where the lines begin and end, (symbols, lines) each: what is no variable stays what it is."""
    rng = np.random.default_rng(0)  # its own: what other checks draw does not depend on this one
    ends = np.array([[subject.point[symbol][:_LINES] for symbol in symbols]] * 2)
    for k, (path, name) in enumerate(symbols):
        declared = subject.shape.at(path).cls.declares
        item = {**declared.variables(), **declared.inputs, **declared.references}.get(name)
        centre = next((c for c in (getattr(item, key, None) for key in ("init", "default")) if c is not None), 1.0)
        if item is not None and abs(centre) < _DISTANT:
            ends[:, k] = centre + rng.uniform(-_FAR, _FAR, (2, _LINES))
        elif name == "time":
            ends[:, k] = rng.uniform(0, 5, (2, _LINES))
    return ends[0], ends[1]


def numbers(subject: Subject) -> str:
    """With the defaults of all parameters that have one, equations are numbers somewhere."""
    defaults = {(path, name): 100.0 if param.default == "base_mva" else float(param.default)
                for path, shape in subject.shape.walk() for name, param in shape.cls.declares.params.items()
                if param.default is not REQUIRED}
    point = {symbol: np.full_like(values, defaults[symbol]) if symbol in defaults else values
             for symbol, values in subject.point.items()}
    called, problems = subject.called(point), []
    for k, name in enumerate(subject.names):
        if name.startswith(_RUNNING) and not np.isfinite(called[k]).any():
            extreme = [".".join((*symbol[0], f"{symbol[1]} = {defaults[symbol]:g}"))
                       for symbol in subject.trace.symbols_of(subject.outputs[k])
                       if symbol in defaults and defaults[symbol] in (0.0, np.inf, -np.inf)]
            problems.append(f"{name} is no number where parameters have their defaults, "
                            f"{', '.join(extreme) or 'none of them extreme'}")
    if problems:
        raise Wrong(*problems)
    return ""
