"""The modules that are mutated, the tests that try them, and the mutants."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cosmic_ray.commands.init import _all_work_items
from cosmic_ray.work_item import WorkItem


@dataclass(frozen=True)
class Group:
    """Modules, and folders of tests that try them: their own first, then those that are likely to find something."""

    modules: tuple[str, ...]
    tests: tuple[str, ...]

    def rank(self, test: str) -> int:
        """The place of a test's folder among them."""
        return next((k for k, folder in enumerate(self.tests) if test.startswith(f"tests/{folder}/")), 0)


GROUPS = {
    "sensitivity": Group(("gridcore/sensitivity/*.py",), ("sensitivity", "objectives", "trbdf2", "bdf")),
    "integrate": Group(("gridcore/integrate/*.py", "plugins/gridcore_ida/retrace.py"),
                       ("integrate", "results", "theta", "sensitivity", "tape", "ida")),
    "theta": Group(("plugins/gridcore_theta/*.py",), ("theta", "testing", "integrate", "sensitivity")),
    "export": Group(("gridcore/whole.py", "plugins/gridcore_export/*.py"), ("results", "export", "netcdf")),
    "netcdf": Group(("plugins/gridcore_netcdf/*.py",), ("netcdf", "results")),
}

# Of the operators that Cosmic Ray puts in place of each, the one that is telling: most of the others are type errors,
# which any test finds, and would make the score look better than it is; an order of equals says nothing.
_PARTNERS = {"Add": "Sub", "Sub": "Add", "Mul": "Div", "Div": "Mul", "FloorDiv": "Mul", "Mod": "Mul", "Pow": "Mul",
             "BitOr": "BitAnd", "BitAnd": "BitOr", "LShift": "RShift", "Is": "IsNot", "IsNot": "Is",
             "Eq": "NotEq", "NotEq": "Eq"}


def mutants(root: Path) -> Iterator[WorkItem]:
    """The mutants of the modules of a repository."""
    paths = [path for group in GROUPS.values() for pattern in group.modules for path in sorted(root.glob(pattern))]
    return filter(_tells, _all_work_items(paths, {}))


def group_of(item: WorkItem, root: Path) -> str:
    """The group of a mutant's module."""
    path = item.mutations[0].module_path.relative_to(root)
    return next(name for name, group in GROUPS.items() if any(map(path.match, group.modules)))


def _tells(item: WorkItem) -> bool:
    """Whether a mutant is one that a test can find, and not any test."""
    (mutation,) = item.mutations
    kind, *change = mutation.operator_name.removeprefix("core/").split("_")
    inert, operators = _places(mutation.module_path)
    if any(first <= mutation.start_pos < last for first, last in inert):
        return False
    if kind == "ReplaceBinaryOperator" and not any(first <= mutation.start_pos < last for first, last in operators):
        return False  # the star of a signature
    if kind == "ReplaceUnaryOperator":
        return change[0] == "Delete"
    if change and change[0] in _PARTNERS:
        return change[1] == _PARTNERS[change[0]]
    return not change or change[1] not in ("Is", "IsNot")


Span = tuple[tuple[int, int], tuple[int, int]]


@functools.cache
def _places(path: Path) -> tuple[list[Span], list[Span]]:
    """Of a module, what Python does not evaluate or what only asserts (annotations, imports for typing, ``strict=`` of
    zip); and what stands between the operands of binary operators.
    """
    inert: list[ast.AST] = []
    operators: list[Span] = []
    for node in ast.walk(ast.parse(path.read_text())):
        inert += [part for name in ("annotation", "returns") if (part := getattr(node, name, None)) is not None]
        if (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING") or (
                isinstance(node, ast.keyword) and node.arg == "strict"):
            inert.append(node)
        if isinstance(node, ast.BinOp):
            operators.append(((node.left.end_lineno, node.left.end_col_offset),
                              (node.right.lineno, node.right.col_offset)))
    return [((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)) for node in inert], operators
