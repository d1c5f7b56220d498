"""The dispatch of converters that a DC network can carry."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

from gridcore.case import Case, load_case
from gridcore.equilibrium import Equilibrium, build
from gridcore.errors import CaseError, ConvergenceError, DataWarning

BALANCED, HARDLY = 1e-12, 0.01  # pu: of the current that is left
ROUNDS = 20


def balance_dc(case: Case | str, converter: str) -> Case:
    """A case whose DC network is balanced by the power of one of its converters.

    AC and DC network are solved in turn until the :class:`~gridcore_converters.dc.capacitor.DCSlack` of the converter's
    network has nothing left: sequential AC/DC power flow, Beerten, Cole & Belmans, IEEE Trans. Power Syst. 27 (2012)
    821.

    Parameters
    ----------
    case : Case or str
        It is not changed.
    converter : str
        Identifier of a VSC: its P0 makes up for all losses.

    Returns
    -------
    Case

    Raises
    ------
    CaseError
        If there is no such converter, or no DCSlack in its DC network.
    ConvergenceError
        If the DC network cannot carry the dispatch.
    """
    case = (load_case(case) if isinstance(case, str) else case).copy()
    if converter not in case or case[converter].model != "VSC":
        raise CaseError(f"{converter!r} must be a VSC of the case")
    if not list(case.of("DCSlack")):
        raise CaseError("the case has no DCSlack: the voltage of the DC network is nowhere given")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # of what is left before
        system = build(case)
    slack, P0 = _slack(system, converter), _value(system, f"{converter}.P0")
    for _ in range(ROUNDS):
        left = _value(system, f"{slack}.spare") * _value(system, f"{slack}.V0")
        if abs(left) <= BALANCED:
            case.set(f"{converter}.P0", P0)
            return case
        P0 += left
        system = system.with_values({f"{converter}.P0": P0})
    raise ConvergenceError(f"the DC network of {converter} is not balanced after {ROUNDS} rounds: {left:.3g} pu left")


def unbalanced(system: Any, Z: Any, found: Any) -> Iterator[str]:
    """What of a dispatch a slack takes up that hardly is a rounded number's."""
    classes = {base.__name__ for instance in system.layout.instances for base in instance.device.__mro__}
    if found is None or not {"VSC", "DCSlack"} <= classes:  # by name: most systems have none, and need not load them
        return
    for slack in _slacks(system):
        spare = Z[system.layout.address(f"{slack}.spare")]
        if abs(spare) > HARDLY:
            yield (f"{slack}: the dispatch of the converters leaves {spare:.3g} pu of current in the DC "
                   "network; gc.analyses.balance_dc finds the power of one that does not")


def _value(system: Equilibrium, address: str) -> float:
    return float(system.Z0[system.layout.address(address)])


def _slack(system: Equilibrium, converter: str) -> str:
    """The one in the converter's DC network."""
    terminals = system.network.terminals
    island = next(island for island in system.network.islands() if terminals(converter)["dc"] in island)
    return next(slack for slack in _slacks(system) if terminals(slack)["dc"] in island)


def _slacks(system: Equilibrium) -> list[str]:
    from .capacitor import DCSlack

    return [instance.id for instance in system.layout.instances if issubclass(instance.device, DCSlack)]
