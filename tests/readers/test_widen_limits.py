from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner
from devices_for_tests import registered

import gridcore as gc
from gridcore.commands.main import gridcore
from gridcore.contract import Device, Param, Setpoint, quantity
from gridcore_blocks import Lag


def kundur(**values):
    case = gc.load_case("kundur")
    for address, value in values.items():
        case.set(address.replace("__", "."), value)
    return case


BROKEN = {"EXC_GEN1__EMAX": 1.5, "GOV_GEN2__VMAX": 0.5, "GOV_GEN3__VMIN": 0.9}


def differing(one, other):
    """Fields that two cases do not have in common."""
    return {f"{id}.{name}": (a.fields.get(name), b.fields.get(name))
            for id, a, b in zip(one.ids(), one, other, strict=True)
            for name in {*a.fields, *b.fields} if a.fields.get(name) != b.fields.get(name)}


def test_limits_that_the_operating_point_breaks_are_moved_a_thousandth_beyond_it_and_no_others():
    case = kundur(**BROKEN)
    system = gc.build(case)
    assert len(system.operating_point.violations) == 3
    widened = gc.analyses.widen_limits(case)
    there = {"EXC_GEN1.EMAX": ("EXC_GEN1", "Efd", 1), "GOV_GEN2.VMAX": ("GOV_GEN2", "x1", 1),
             "GOV_GEN3.VMIN": ("GOV_GEN3", "x1", -1)}
    changed = differing(case, widened)
    assert set(changed) == set(there)
    for address, (device, name, side) in there.items():
        function, gather = system.system.quantity(device, name)
        value = float(function(system.Z0[gather]))
        assert changed[address][1] == pytest.approx(value * (1 + 1e-3 * side) + 1e-6 * side, rel=1e-12)
    assert differing(case, kundur(**BROKEN)) == {}  # what was given stays as it was


def test_within_wider_limits_the_system_is_at_rest_where_it_was_without_them():
    widened = gc.build(gc.analyses.widen_limits(kundur(**BROKEN)))
    assert widened.operating_point.violations == []
    free = gc.build("kundur")
    assert np.array_equal(widened.Z0[: widened.n], free.Z0[: free.n])
    still = gc.analyses.widen_limits(kundur(**BROKEN))
    for record in [r for r in still if r.model in ("BusFault", "BranchTrip")]:
        still.records.remove(record)
    run = gc.simulate(gc.build(still), 1.0, 0.01)
    assert run.events == []
    assert np.abs(run.X - run.X[0]).max() < 1e-9


def test_a_bound_that_moves_with_the_voltage_is_put_behind_its_value_by_the_parameter_in_front():
    case = gc.load_case("ieee39")
    exciter = next(r for r in case if r.model == "ESDC1A")
    exciter.model = "ESDC2A"
    exciter.fields["VRMAX"] = 0.01
    id = case.ids()[case.records.index(exciter)]
    assert gc.build(case).operating_point.violations
    system = gc.build(gc.analyses.widen_limits(case))
    assert system.operating_point.violations == []
    found = {}
    for name in ("VR", "VR_max", "VRMAX"):
        function, gather = system.system.quantity(id, name)
        found[name] = float(function(system.Z0[gather]))
    assert found["VR_max"] == pytest.approx(found["VR"] * 1.001 + 1e-6, rel=1e-6)
    assert found["VRMAX"] != pytest.approx(found["VR_max"], rel=1e-3)


def test_every_change_is_noted_and_kept_with_a_run(tmp_path):
    case = kundur(**BROKEN)
    case.note("read by hand")
    widened = gc.analyses.widen_limits(case)
    assert widened.notes[0] == "read by hand"
    assert widened.notes[1:] == widened.about["notes"].splitlines()[1:]
    assert len(widened.notes) == 4
    assert widened.notes[1].startswith("EXC_GEN1.EMAX is widened from 1.5 to 1.946")
    run = gc.simulate(gc.build(widened), 0.05, 0.01)
    run.save(tmp_path / "run.nc")
    kept = gc.load_run(tmp_path / "run.nc").system.case
    assert kept.about["notes"].splitlines() == widened.notes
    assert kept["EXC_GEN1"].fields["EMAX"] == widened["EXC_GEN1"].fields["EMAX"]


def test_a_case_within_its_limits_stays_as_it_is():
    case = kundur()
    widened = gc.analyses.widen_limits(case)
    assert differing(case, widened) == {}
    assert widened.notes == case.notes


class Fixed(Device):
    """Rests beyond limits that no parameter moves: of one that is a number, and of one that is called after another."""

    HIGH = Param("", 1.0)
    ref = Setpoint("", equals=lambda s: 2.0)

    @quantity("")
    def elsewhere(s):
        return 1.0 + 0.0 * s.ref

    one = Lag("ref", T="T", limits=(None, 1.0))
    two = Lag("ref", T="T", limits=(None, "elsewhere"), names=("LOW", "HIGH"))
    T = Param("s", 1.0)


def test_what_no_parameter_moves_is_left_and_reported():
    with registered(Fixed):
        case = gc.Case("fixed")
        case.add(Fixed(id="F"))
        widened = gc.analyses.widen_limits(case)
        assert differing(case, widened) == {}
        assert widened.notes == []
        assert len(gc.build(widened).operating_point.violations) == 2


def test_gradients_are_those_of_the_wider_system():
    widened = gc.analyses.widen_limits(kundur(**BROKEN))
    run = gc.simulate(gc.build(widened), 1.5, 0.01)
    assert any(e.device == "EXC_GEN1" and e.item == "Efd_at_EMAX" for e in run.events)
    speed, wrt = gc.Terminal(lambda v: v["GEN1", "omega"], name="speed"), ["EXC_GEN1.EMAX", "GEN2.H", "GEN1.H"]
    exact = gc.adjoint(run, speed, wrt=wrt).values
    assert np.abs(exact).min() > 0
    np.testing.assert_allclose(exact, gc.differences(run, speed, wrt=wrt).values, rtol=1e-5)


def test_on_the_command_line_it_is_an_option_of_every_verb_that_builds(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    gc.save_case(kundur(**BROKEN), tmp_path / "broken.toml")
    plain = CliRunner().invoke(gridcore, ["run", "broken.toml", "--t-end", "0.02"])
    assert "reaches EMAX at t0 already" in plain.output
    wide = CliRunner().invoke(gridcore, ["run", "broken.toml", "--widen-limits", "--set", "GOV_GEN4.VMAX=0.5",
                                         "--t-end", "0.02"])
    assert wide.exit_code == 0
    assert "at t0 already" not in wide.output
    assert [line.split()[1] for line in wide.stderr.splitlines() if "is widened" in line] == [
        "EXC_GEN1.EMAX", "GOV_GEN2.VMAX", "GOV_GEN3.VMIN", "GOV_GEN4.VMAX"]
    assert CliRunner().invoke(gridcore, ["convert", "broken.toml", "wide.toml", "--widen-limits"]).exit_code == 0
    assert gc.build("wide.toml").operating_point.violations == []
