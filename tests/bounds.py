"""The bounds that tests set, and how near numbers come to them, by the line that has the bound.

``assert_allclose``, ``np.allclose``, ``np.isclose`` and ``pytest.approx`` say what they compare. For comparisons of
Python, ``error < 1e-9`` and ``(abs(a - b) <= 1e-9 * scale).all()``, the modules of tests are compiled anew: each
comparison that an ``assert`` rests on calls :func:`compare`, which gives what it gave, and takes notes.
"""

from __future__ import annotations

import ast
import importlib.machinery
import math
import operator
import sys
from collections.abc import Callable
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SMALL = 1e-2  # what is compared with more than this is a count or a quantity, no bound of an error

worst: dict[str, float] = {}

_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.Eq: operator.eq, ast.NotEq: operator.ne}
_BY_NAME = {kind.__name__: function for kind, function in _OPERATORS.items()}
_NAME = "_compare_with_bound"


def note(site: str, ratio: float) -> None:
    """An error, as a part of its bound."""
    if math.isfinite(ratio):
        worst[site] = max(worst.get(site, 0.0), float(ratio))


def compare(site: str, names: str, tolerances: str, *operands: Any) -> Any:
    """What ``a < b <= c`` gives, with notes of the errors that it bounds; `tolerances`: "t" for each small factor.

    An interval bounds an error where it begins at zero, and a quantity elsewhere.
    """
    result: Any = True
    for k, name in enumerate(names.split()):
        left, right = operands[k:k + 2]
        result = (result and _BY_NAME[name](left, right)) if k else _BY_NAME[name](left, right)
        if len(operands) == 2 or _is_zero(operands[0]):
            at = k + (name[0] == "L")  # where the bound stands
            error, bound = (left, right) if at > k else (right, left)
            if name[0] in "LG" and (tolerances[at] == "t" or tolerances[k:k + 2] == "--"):
                _note_of(site, error, bound, tolerances[at] == "t")
    return result


def _is_zero(value: Any) -> bool:
    return isinstance(value, int | float) and value == 0


def _note_of(site: str, error: Any, bound: Any, is_tolerance: bool) -> None:
    """Of numbers, or arrays of them, as far as they are within a bound that is one of errors."""
    import numpy as np

    try:
        e, b = np.broadcast_arrays(np.asarray(error, dtype=float), np.asarray(bound, dtype=float))
    except (TypeError, ValueError):  # no numbers
        return
    within = (e >= 0) & (e <= b) & (b > 0) & ((b <= SMALL) | is_tolerance)
    if within.any():
        note(site, float(np.max(e[within] / b[within])))


class _Comparisons(ast.NodeTransformer):
    """Puts :func:`compare` in the place of the comparisons that an ``assert`` rests on: all of them, or any."""

    def __init__(self, file: Path):
        self.file, self.line = file.relative_to(HERE), 0

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        self.line = node.lineno
        node.test = self._rests_on(node.test)
        return node

    def _rests_on(self, node: Any) -> Any:
        match node:
            case ast.Compare():
                return self._compared(node)
            case ast.BoolOp():
                node.values = [self._rests_on(value) for value in node.values]
            case ast.BinOp(op=ast.BitAnd() | ast.BitOr()):
                node.left, node.right = self._rests_on(node.left), self._rests_on(node.right)
            case ast.GeneratorExp() | ast.ListComp():
                node.elt = self._rests_on(node.elt)
            case ast.Subscript():  # (a < b)[some]
                node.value = self._rests_on(node.value)
            case ast.Call(func=ast.Name(id="all" | "any") | ast.Attribute(attr="all" | "any")):
                node.args = [self._rests_on(value) for value in node.args]
                if isinstance(node.func, ast.Attribute):  # (a < b).all()
                    node.func.value = self._rests_on(node.func.value)
        return node

    def _compared(self, node: ast.Compare) -> ast.AST:
        if any(type(op) not in _OPERATORS for op in node.ops) or not any(
                isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for op in node.ops):
            return node
        operands = [node.left, *node.comparators]
        words = (f"{self.file}:{self.line}", " ".join(type(op).__name__ for op in node.ops),
                 "".join("t" if _is_tolerance(x) else "-" for x in operands))
        call = ast.Call(ast.Name(_NAME, ast.Load()), [*map(ast.Constant, words), *operands], [])
        return ast.fix_missing_locations(ast.copy_location(call, node))


def _is_tolerance(node: ast.AST) -> bool:
    """A small number, or what has one as a factor."""
    match node:
        case ast.Constant(value=float(value)):
            return 0 < value <= SMALL
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _is_tolerance(left) or _is_tolerance(right)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _is_tolerance(left) and _is_tolerance(right)
        case ast.BinOp(left=left, op=ast.Div()):
            return _is_tolerance(left)
    return False


def watched(source: bytes | str, file: Path) -> ast.Module:
    """The module of a source, whose comparisons take notes."""
    tree = _Comparisons(file).visit(ast.parse(source, str(file)))
    after = next((k for k, node in enumerate(tree.body) if not (
        (isinstance(node, ast.ImportFrom) and node.module == "__future__") or isinstance(node, ast.Expr))), 0)
    tree.body.insert(after, ast.parse(f"from bounds import compare as {_NAME}").body[0])
    return ast.fix_missing_locations(tree)


class _Loader(importlib.machinery.SourceFileLoader):
    """Compiles a module of tests so; never from what has been compiled before, and nothing is kept."""

    def get_code(self, fullname: str) -> Any:
        from _pytest.assertion.rewrite import rewrite_asserts  # what pytest does to a module of tests

        source = self.get_data(self.path)
        tree = watched(source, Path(self.path))
        rewrite_asserts(tree, source)
        return compile(tree, self.path, "exec", dont_inherit=True)


class _Finder(MetaPathFinder):
    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or spec.origin is None or not Path(spec.origin).is_relative_to(HERE) or not isinstance(
                spec.loader, importlib.machinery.SourceFileLoader):
            return None
        spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


def _site() -> str | None:
    """The line of a test that is being run."""
    frame: Any = sys._getframe(2)
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(HERE) and path != Path(__file__):
            return f"{path.relative_to(HERE)}:{frame.f_lineno}"
        frame = frame.f_back
    return None


def watch() -> None:
    """From now on modules of tests are compiled so, and functions that compare take notes."""
    import numpy as np
    import pytest

    sys.meta_path.insert(0, _Finder())
    scalar: Any = type(pytest.approx(0.0))
    equal = scalar.__eq__

    def taking_notes(function: Callable[..., Any], standard: tuple[float, float]) -> Callable[..., Any]:
        def compared(a: Any, b: Any, rtol: float = standard[0], atol: float = standard[1], **named: Any) -> Any:
            result = function(a, b, rtol, atol, **named)
            actual, desired = np.asarray(a), np.asarray(b)
            if (site := _site()) and actual.dtype.kind in "fc" and actual.size:
                with np.errstate(all="ignore"):
                    error, bound = np.abs(actual - desired), atol + rtol * np.abs(desired)
                    ratio = np.where(error == 0, 0.0, error / bound)
                note(site, float(np.max(ratio[np.isfinite(ratio) & (ratio <= 1)], initial=0.0)))
            return result

        return compared

    def eq(self: Any, actual: Any) -> bool:
        result: bool = equal(self, actual)
        numbers = all(isinstance(value, int | float | complex) for value in (actual, self.expected))
        if result and numbers and (site := _site()):
            error = abs(actual - self.expected)
            note(site, error / self.tolerance if error else 0.0)
        return result

    np.testing.assert_allclose = taking_notes(np.testing.assert_allclose, (1e-7, 0.0))
    np.allclose, np.isclose = (taking_notes(f, (1e-5, 1e-8)) for f in (np.allclose, np.isclose))
    scalar.__eq__ = eq
