"""The industry's cases: the shipped files, and the RAW and DYR files that they were read from."""

from pathlib import Path

import numpy as np
import pytest
from industry import CASES
from scipy.sparse import csr_array

import gridcore as gc

FOLDER = Path(__file__).parents[2].parent / "shared" / "data"
data = pytest.mark.skipif(not FOLDER.is_dir(), reason=f"no data in {FOLDER}")
names = pytest.mark.parametrize("name", CASES)


def imbalance(case):
    """Power (pu, by bus) that the voltages printed in the file lack to be the operating point, and how much they may.

    They are rounded to 5 digits of pu and 4 of degrees, and power follows by the admittances of the network.
    """
    system = gc.build(case)
    flow = system.operating_point.power_flow
    Y = csr_array((flow.equations.Y, (flow.equations.row, flow.equations.col)), shape=(flow.equations.n,) * 2)
    printed = np.array([r.fields["Vm0"] * np.exp(1j * r.fields["Va0"]) for r in case if r.model == "Bus"])
    rounded = np.hypot(0.5e-5, np.abs(printed) * np.radians(0.5e-4))
    assert len(printed) == flow.equations.n
    lack = np.abs(printed * np.conj(Y @ printed) - flow.V * np.conj(Y @ flow.V))
    return lack, np.abs(flow.V) * (abs(Y) @ rounded) + rounded * np.abs(Y @ flow.V), np.abs(printed - flow.V).max()


@data
@names
def test_the_shipped_case_is_that_of_the_files(name):
    shipped, read = gc.load_case(name), CASES[name].read(FOLDER, name)
    assert (shipped.name, shipped.title, shipped.about) == (read.name, read.title, read.about)
    assert (shipped.base_mva, shipped.frequency) == (read.base_mva, read.frequency)
    one, two = ({id: (record.model, record.fields) for id, record in zip(case.ids(), case)} for case in (shipped, read))
    assert set(one) == set(two)
    for id, record in one.items():
        assert record == two[id], id


@data
@names
def test_the_results_of_both_are_identical(name):
    """To the last bit, once the rows are in the same order."""
    shipped, read = gc.load_case(name), CASES[name].read(FOLDER, name)
    in_order = gc.Case(read.name, base_mva=read.base_mva, frequency=read.frequency)
    records = dict(zip(read.ids(), read))
    for id in shipped.ids():
        in_order.add(records[id])
    one, two = (gc.simulate(gc.build(case), t_end=1.3, step=0.01) for case in (shipped, in_order))
    assert len(one.events) == len(two.events) > 0
    np.testing.assert_array_equal(one.X, two.X)


@pytest.mark.parametrize("name", ["kundur", "npcc140"])
def test_the_operating_point_is_the_solution_of_the_file(name):
    """To all the digits that are printed: what they lack in power at any bus is less than their rounding makes."""
    lack, allowed, apart = imbalance(gc.load_case(name))
    assert (lack <= allowed).all()
    print(f"{name}: voltages differ by {apart:.2e} pu, at most {100 * lack.max():.3f} MVA at a bus")
    assert apart < 2e-5


def test_the_operating_point_of_new_england_is_the_solution_of_the_file_but_for_one_tap():
    """The RAW's voltages belong to a tap of 0.8498 of transformer 31-6; where its record has 0.9."""
    case = gc.load_case("ieee39")
    lack, allowed, apart = imbalance(case)
    assert (lack > allowed).any()
    assert apart > 0.02
    case.set("TRANSFORMER31-6.tap", 0.8498365)
    lack, allowed, apart = imbalance(case)
    assert (lack <= allowed).all()
    assert apart < 2e-5


@names
def test_every_device_starts_inside_its_limits(name):
    case = gc.load_case(name)
    run = gc.simulate(gc.build(case), t_end=0.9, step=0.01)
    assert run.events == []


@pytest.mark.parametrize(("name", "spread"), [("ieee39", 2.6), ("npcc140", 1.8), ("activsg200", 1.6)])
def test_the_system_survives_its_disturbance(name, spread):
    """A fault and the loss of a line, to 15 s: machines in step, oscillations that die away, frequency near nominal."""
    system = gc.build(name)
    run = gc.simulate(system, t_end=15.0, step=0.01)
    machines = [i.id for i in system.layout.instances if i.device.source]
    delta, omega = (np.array([run[g, quantity] for g in machines]) for quantity in ("delta", "omega"))
    assert np.ptp(delta, axis=0).max() < spread
    early, late = ((run.t > begin) & (run.t < begin + 2.0) for begin in (1.2, 12.9))
    coherent = omega - omega.mean(axis=0)
    assert np.abs(coherent[:, late]).max() < 0.5 * np.abs(coherent[:, early]).max()
    assert np.abs(omega[:, -1] - 1).max() < 2e-3
    assert {"strikes", "clears"} <= {event.item for event in run.events}
