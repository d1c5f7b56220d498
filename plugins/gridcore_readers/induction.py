"""Induction machines of a PSS/E power-flow file: constant power, which is what their buses lack in the file's solution.

Siemens PTI, PSS/E Data Formats Reference Manual, "Induction machine data": their circuits are mostly those of a design
of NEMA or IEC, whose values the program has and the file has not; its voltages say what the machines take.
"""

from __future__ import annotations

from .balance import CLOSE
from .direct_current import Terminal
from .psse import Row

ELECTRICAL = 2  # PC: the set-point is what the machine takes; else it is what the shaft has, which losses add to
LOSSES = 0.25  # of the set-point, at most


def machine(row: Row, lacks: complex, rounding: float, base: float) -> Terminal:
    """What a machine injects at a bus that lacks so much power (pu, known to that rounding).

    Raises
    ------
    CaseError
        If the file's solution does not balance with it: it asks for another active power, or for reactive power from
        the machine, which has none to give.
    """
    setting, close = -row.number("PSET") / base, CLOSE + rounding
    losses = 0.0 if row.integer("PC") == ELECTRICAL else LOSSES * abs(setting)
    if not -losses - close <= lacks.real - setting <= close or lacks.imag > close:
        raise row.error(f"the file's solution is none with this machine: its bus lacks {base * lacks.real:.5g} MW and "
                        f"{base * lacks.imag:.5g} Mvar; leave them out with --drop \"induction machine\"", "PSET")
    taken = complex(lacks.real if losses else setting, lacks.imag)
    return Terminal(row, row.integer("I"), base * taken, rating=row.number("MBASE"))

