"""Functions of named quantities, traced once: their values and their sparse gradients at the points of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from ..contract import Path, Scope
from ..equations import BASE, numpy_on_symbols
from ..errors import CaseError, GridcoreError
from ..kept import KeptFor
from ..results import Run, Stretch
from .same_function import fingerprint

if TYPE_CHECKING:
    from ..equilibrium import Equilibrium

Function = Callable[[Any], Any]
Joint = tuple[ca.Function, np.ndarray, np.ndarray, np.ndarray]
_joint: KeptFor[Joint] = KeptFor("objectives")
_mapped: KeptFor[tuple[ca.Function, ca.Function]] = KeptFor("objectives_at_points")


class _Quantities:
    """What an objective's function gets: ``v["GEN2", "omega"]``, as symbols that stand for entries of Z."""

    def __init__(self, system: Equilibrium):
        self.system = system
        self.symbols: dict[int, ca.SX] = {}

    def __getitem__(self, key: tuple[str, str]) -> ca.SX:
        if not (isinstance(key, tuple) and len(key) == 2):
            raise CaseError(f"{key!r}: quantities are named by a pair, v['GEN2', 'omega']")
        device, name = key
        layout = self.system.layout
        if device == BASE and name in layout.globals:
            return self._symbol(layout.globals[name])
        number, member = self.system.system.locate(device)
        group = layout.groups[number]

        def lookup(path: Path, symbol: str) -> ca.SX:
            return self._symbol(int(layout.gather(group, path, symbol)[member]))

        return Scope(group.shape, lookup).value((), name)

    def _symbol(self, at: int) -> ca.SX:
        """What stands for an entry of Z."""
        return self.symbols.setdefault(at, ca.SX.sym(f"z{at}"))


def _output(function: Function, quantities: _Quantities) -> ca.SX:
    """What a function is of symbols; its errors in words."""
    try:
        output = ca.SX(function(quantities))
    except (GridcoreError, KeyError):
        raise
    except Exception as error:
        raise CaseError(f"{_named(function)} does not work on symbols; write it with numpy and one number as result: "
                        f"np.where for if, np.maximum for max, np.sin for math.sin "
                        f"({str(error).splitlines()[0] if str(error) else type(error).__name__})") from error
    if output.shape != (1, 1):
        raise CaseError(f"{_named(function)} gives {output.numel()} values: it gives one")
    constants = ca.Function("constants", ca.symvar(output), [output])
    if any(constants.instruction_id(k) == ca.OP_CONST and np.isnan(constants.instruction_constant(k))
           for k in range(constants.n_instructions())):
        raise CaseError(f"{_named(function)} has nan in it")
    return output


def _named(function: Function) -> str:
    code = getattr(function, "__code__", None)
    return "the function of an objective" + (f", line {code.co_firstlineno} of {code.co_filename}," if code else "")


@dataclass
class Traced:
    """Functions at every point: values (points, functions), and gradient entries (points, entries) with
    the function (`row`) and the position in Z (`at`) of each.
    """

    values: np.ndarray
    gradients: np.ndarray
    row: np.ndarray
    at: np.ndarray


def trace(part: Run | Stretch, joint: Joint) -> Traced:
    """Functions that :func:`joint_function` made one of, and their gradients, at the points of a run or of a part."""
    function, at, row, column = joint
    count = len(part.t)
    _, everywhere = _mapped.get(part.system.system, (id(function), count), lambda: (function, function.map(count)))
    values, gradients = everywhere(part.read(at).T)
    return Traced(np.asarray(values).T, np.asarray(gradients).T.reshape(count, len(row)), row, at[column])


def joint_function(system: Equilibrium, functions: Sequence[Function]) -> Joint:
    """One function of entries of Z for functions of named quantities: (function, at, rows, columns).

    It gives their values and the entries of their sparse gradients; `at` is where in Z its arguments stand.
    """
    def traced() -> Joint:
        quantities = _Quantities(system)
        with numpy_on_symbols():
            outputs = ca.vertcat(*(_output(function, quantities) for function in functions))
        z = ca.vertcat(*quantities.symbols.values())
        jacobian = ca.jacobian(outputs, z)
        row, column = (np.array(part, dtype=int) for part in jacobian.sparsity().get_triplet())
        joint = ca.Function("objectives", [z], [ca.densify(outputs), ca.densify(jacobian.nz[:])])
        return joint, np.array(list(quantities.symbols), dtype=int), row, column

    prints = tuple(fingerprint(function) for function in functions)
    return traced() if None in prints else _joint.get(system.system, prints, traced)
