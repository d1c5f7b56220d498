"""Whether the solution that a file holds is one: what is missing at each bus for its powers to balance."""

from __future__ import annotations

import warnings

import numpy as np

from gridcore.case import Case
from gridcore.equilibrium import Dispatch, build
from gridcore.errors import GridcoreError

CLOSE = 1e-2  # pu: programs solve to 0.1 MVA, and files are written from what others have changed since
ROUNDING = 2e-5  # pu: of voltages with four or five digits; by the admittances at the bus, of power


def unbalanced(case: Case) -> set[str]:
    """The buses at which reactive powers do not balance at the voltages Vm0, Va0 of the case; none if it is faulty."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            system = build(case, initialise=False, deenergise=True)
        flow = Dispatch(system.system, system.Z0)
        V = system.Z0[flow.at["Vm0"]] * np.exp(1j * system.Z0[flow.at["Va0"]])
        Y = flow.admittance()
    except GridcoreError:
        return set()
    missing = abs((V * np.conj(Y @ V) - flow.scheduled()).imag)
    most = CLOSE + ROUNDING * np.asarray(abs(Y).sum(axis=1)).ravel() * abs(V)
    return {flow.ids[k] for k in np.flatnonzero(missing > most)}
