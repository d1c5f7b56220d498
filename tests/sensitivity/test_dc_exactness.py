"""Gradients of DC networks, and of AC systems with a DC part: the derivative of the program, as anywhere else."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from devices_for_tests import registered
from scenes import case_of, nine_bus
from studies import Study, compare

import gridcore as gc
from gridcore_example_dc import devices as dc


@pytest.fixture(autouse=True)
def _devices() -> Iterator[None]:
    with registered(*dc.DEVICES):
        yield


def mesh() -> list[gc.Record]:
    """Three nodes, three lines, a source at the first, loads at the others."""
    return [*(dc.DCNode(id=k) for k in (1, 2, 3)), dc.DCSource(dc=1, E=1.05), dc.DCLine(dc1=1, dc2=2, r=0.02),
            dc.DCLine(dc1=2, dc2=3, r=0.03), dc.DCLine(dc1=1, dc2=3, r=0.05), dc.DCLoad(dc=3, P0=1.0),
            dc.DCLoad(dc=2, P0=0.5)]


LINES = [f"DCLINE{ends}.r" for ends in ("1-2", "2-3", "1-3")]


def alone() -> Study:
    """A line is opened; that overloads another, whose relay opens it, too; the first is closed again."""
    case = case_of(*mesh(), dc.DCLine(id="SECOND", dc1=1, dc2=3, r=0.2), dc.DCTrip(line="SECOND", Imax=0.25),
                   gc.BranchTrip(branch="DCLINE1-2", t=0.1013, reclose=0.1321),
                   gc.ParameterStep(parameter="DCSRC1.E", t=0.2117, scale=0.99))
    wrt = [*LINES, "DCLOAD3.P0", "DCLOAD2.T", "DCSRC1.E", "DCSRC1.T", "DCSRC1.droop", "trip.t", "trip.reclose",
           "DCTRIP_SECOND.Imax", "SECOND.r", "DCSRC1.V"]
    return Study(case, 0.4, 0.005, wrt, [("DC3", "V"), ("DCSRC1", "i"), ("DCLINE1-2", "I")],
                 ["trip.opens", "DCTRIP_SECOND.above", "trip.closes", "step.steps"])


def beside_ac() -> Study:
    """A converter takes power from bus 5 of the 9-bus system; lines are opened on either side."""
    case = nine_bus()
    for r in (*mesh(), dc.Converter(bus=5, dc=3, P0=0.4),
              gc.BranchTrip(id="ac", branch="LINE5-7", t=0.0513, reclose=0.11),
              gc.BranchTrip(id="dc", branch="DCLINE1-3", t=0.0713, reclose=0.1417)):
        case.add(r)
    wrt = [*LINES, "DCLOAD3.P0", "DCSRC1.E", "CONV5-3.P0", "LOAD5.P0", "GEN2.P0", "LINE5-7.x", "ac.t", "dc.t"]
    return Study(case, 0.2, 0.01, wrt, [("GEN2", "omega"), ("BUS5", "Vm"), ("DC3", "V"), ("DCSRC1", "i")],
                 ["ac.opens", "dc.opens", "ac.closes", "dc.closes"])


@pytest.mark.parametrize("study", [alone, beside_ac])
def test_forward_and_adjoint_are_the_complex_step_of_the_program(study) -> None:
    compare(study())


def test_adjoint_is_finite_differences() -> None:
    study = beside_ac()
    objective = gc.Integral(lambda v: (v["DC3", "V"] - 1) ** 2 + (v["GEN2", "omega"] - 1) ** 2)
    wrt = ["CONV5-3.P0", "DCLINE1-3.r", "dc.t"]
    run = study.simulate()
    np.testing.assert_allclose(gc.adjoint(run, objective, wrt), gc.differences(run, objective, wrt), 1e-6, 1e-12)
