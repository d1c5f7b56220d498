"""Converters for generators of which a file has no model: they rest where the power flow has them, and ride through."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gridcore as gc
from gridcore.errors import CaseError

FOLDER = Path(__file__).parents[2].parent / "shared" / "data" / "activsg2000"


def three() -> gc.Case:
    """A slack and two generators of which only the power is known, one out of service."""
    case = gc.Case("three")
    for number in (1, 2, 3):
        case.add("Bus", id=number)
    for bus in (2, 3):
        case.add("Line", bus1=1, bus2=bus, x=0.1)
    case.add("InfiniteBus", bus=1, control="slack")
    case.add("StaticGenerator", bus=2, control="PV", P0=0.5, V0=1.01, Sn=80.0)
    case.add("StaticGenerator", bus=3, control="PQ", P0=0.5, Q0=0.1, Sn=80.0, status=0)
    return case


def test_a_generator_becomes_a_plant_of_its_power_voltage_and_rating(tmp_path):
    case = three()
    given = gc.analyses.with_converters(case)
    assert [record.model for record in given if record.model.startswith("RE")] == [
        "REGCA1", "REGCA1", "REECB1", "REPCA1", "REECB1", "REPCA1"]
    assert not [record for record in case if record.model == "REGCA1"]
    run = gc.simulate(gc.build(given), 5.0, 0.02)
    assert run["GEN2", "P"][0] * 0.8 == pytest.approx(0.5, abs=1e-12)
    assert run["BUS2", "Vm"][0] == pytest.approx(1.01, abs=1e-12)
    assert np.ptp(run["GEN2", "P"]) < 1e-9
    gc.save_case(given, tmp_path / "x.raw")
    gc.save_case(given, tmp_path / "x.dyr")
    back = gc.load_case(tmp_path / "x.raw", tmp_path / "x.dyr")
    assert sum(record.model == "REPCA1" for record in back) == 2


def test_a_case_may_be_given_by_its_path(tmp_path):
    gc.save_case(three(), tmp_path / "x.toml")
    found, same = gc.analyses.with_converters(tmp_path / "x.toml"), gc.analyses.with_converters(three())
    assert [(record.model, record.fields) for record in found] == [(record.model, record.fields) for record in same]
    wide = gc.analyses.widen_limits(str(tmp_path / "x.toml"))
    assert [record.fields for record in wide] == [record.fields for record in gc.analyses.widen_limits(three())]


def test_what_has_a_model_or_is_not_there_is_no_plant():
    for id in ("INF1", "GEN7"):
        with pytest.raises(CaseError, match=f"'{id}' must be a StaticGenerator"):
            gc.analyses.with_converters(three(), [id])


@pytest.mark.skipif(not FOLDER.is_dir(), reason=f"no data in {FOLDER}")
@pytest.mark.filterwarnings("ignore")
def test_the_98_plants_of_activsg2000_rest_and_come_back_after_a_fault_beside_the_largest():
    case = gc.load_case(FOLDER / "ACTIVSg2000.RAW", FOLDER / "ACTIVSg2000_dynamics.dyr", loads="I/Z")
    case = gc.analyses.widen_limits(gc.analyses.with_converters(case))
    plants = {id: record for id, record in zip(case.ids(), case)
              if record.model == "REGCA1" and record.fields.get("status", 1)}
    assert len(plants) == 98
    rest = gc.simulate(gc.build(case), 2.0, 0.05)
    assert not rest.events
    for what in ("P", "Q", "Ip", "Iq"):
        assert max(np.ptp(rest[id, what]) for id in plants) < 1e-9
    assert np.ptp(rest["BUS*.Vm"].values, axis=0).max() < 1e-9
    largest = max(plants, key=lambda id: plants[id].fields["P0"])
    case.add("BusFault", id="fault", bus=plants[largest].fields["bus"], t=0.1, clear=0.15, x=0.02)
    run = gc.simulate(gc.build(case), 2.0, 0.01)
    items = {(event.device, event.item) for event in run.events}
    assert {(largest, "gain_below_2"), (f"REEC_{largest}", "dip_below"), (f"REEC_{largest}", "dip_from_below")} <= items
    for id in plants:
        assert run[id, "P"][-1] == pytest.approx(run[id, "P"][0], abs=0.02)
