"""REGFMA1 and REGFMB1: what their specifications promise of droops and limits."""

from __future__ import annotations

import numpy as np
import pytest

import gridcore as gc
from gridcore_readers.dyr import available


def island(model: str, P0: float = 0.5, more: float = 0.0, **values: float) -> gc.Case:
    """Two converters at a load of constant power, 0.8 pu and 0.2 pu, that grows at 0.2 s."""
    case = gc.Case("island", base_mva=100)
    for number in (1, 2, 3):
        case.add("Bus", id=number)
    case.add("Line", bus1=1, bus2=2, r=0.002, x=0.05)
    case.add("Line", bus1=3, bus2=2, r=0.002, x=0.08)
    case.add(model, bus=1, control="slack", V0=1.0, Sn=100.0, kiv=5.86)
    case.add(model, bus=3, control="PV", V0=1.0, P0=P0, Sn=60.0, kiv=5.86, **values)
    case.add("ZIP", bus=2, P0=0.8, Q0=0.2, pP=1.0, pZ=0.0, qP=1.0, qZ=0.0)
    if more:
        case.add("ParameterStep", id="more", parameter="LOAD2.P0", t=0.2, by=more)
    return case


def settled(case: gc.Case, t_end: float = 40.0):
    """A run, and a function of the last value of what a converter has."""
    run = gc.simulate(gc.build(case), t_end, 0.02)
    return run, lambda bus, name: run[f"GEN{bus}", name][-1]


@pytest.mark.parametrize("model", ["REGFMA1", "REGFMB1"])
def test_two_converters_share_a_load_by_their_droops(model):
    run, last = settled(island(model, more=0.1, mp=0.03))
    shares = [1.0 * (last(1, "P") - run["GEN1", "P"][0]), 0.6 * (last(3, "P") - run["GEN3", "P"][0])]
    mp = gc.registry.devices[model].declares.params["mp"].default
    assert shares[0] / shares[1] == pytest.approx((1.0 / mp) / (0.6 / 0.03), abs=1e-9)
    assert last(1, "omega") - 1.0 == pytest.approx(-mp * shares[0], abs=1e-9)
    assert last(3, "omega") == pytest.approx(last(1, "omega"), abs=1e-9)


@pytest.mark.parametrize("model", ["REGFMA1", "REGFMB1"])
def test_an_undisturbed_island_rests(model):
    run, _ = settled(island(model), 2.0)
    assert np.abs(run.X - run.X[0]).max() < 1e-9


def test_a_converter_that_is_asked_for_too_much_power_gives_PMAX():
    _, last = settled(island("REGFMA1", more=0.15, PMAX=0.9))
    assert last(3, "P") == pytest.approx(0.9, abs=1e-9)
    assert last(3, "over") < -1e-4
    assert last(3, "omega") == pytest.approx(last(1, "omega"), abs=1e-9)


def test_a_converter_that_is_asked_for_too_little_power_gives_PMIN():
    _, last = settled(island("REGFMA1", more=-0.3, PMIN=0.75))
    assert last(3, "P") == pytest.approx(0.75, abs=1e-9)
    assert last(3, "under") > 1e-4


def test_a_converter_that_is_asked_for_too_much_reactive_power_gives_QMAX():
    case = island("REGFMA1", QMAX=0.3, mq=0.01)
    case.add("ParameterStep", id="reactive", parameter="LOAD2.Q0", t=0.2, by=0.3)
    _, last = settled(case)
    assert last(3, "Q") == pytest.approx(0.3, abs=1e-9)
    assert last(3, "lower") < -1e-4


def feeder(model: str, **values: float) -> gc.Case:
    """One converter behind a line at a stiff grid, with a fault at its bus."""
    case = gc.Case("feeder", base_mva=100)
    for number in (1, 2):
        case.add("Bus", id=number)
    case.add("InfiniteBus", bus=1, control="slack", X=0.02)
    case.add("Line", bus1=1, bus2=2, r=0.01, x=0.15)
    case.add(model, bus=2, control="PV", P0=0.7, V0=1.01, kiv=5.86, **values)
    case.add("BusFault", id="fault", bus=2, t=0.1, clear=0.2, x=0.02)
    return case


@pytest.mark.parametrize("model", ["REGFMA1", "REGFMB1"])
def test_the_current_of_a_fault_is_cut_at_IMAX_and_keeps_its_angle(model):
    run = gc.simulate(gc.build(feeder(model, IMAX=1.4)), 1.0, 0.005)
    (begin,), (end,) = ([e.t for e in run.events if e.device == "GEN2" and e.item == item][:1]
                        for item in ("I_at_IMAX", "I_off_IMAX"))
    during = (run.t > begin) & (run.t < end)
    assert np.abs(run["GEN2", "I"][during] - 1.4).max() < 1e-12
    S = run["GEN2", "P"] + 1j * run["GEN2", "Q"]
    current = np.conj(S / (run["BUS2", "Vr"] + 1j * run["BUS2", "Vi"]))
    free = run["GEN2", "free_r"] + 1j * run["GEN2", "free_i"]
    assert np.abs(np.angle(current / free)[during]).max() < 1e-12
    assert np.abs(np.abs(free)[during]).min() > 1.4
    assert run["GEN2", "I"][-1] < 1.0


def test_without_IMAX_the_current_has_no_limit():
    run = gc.simulate(gc.build(feeder("REGFMA1")), 0.3, 0.005)
    assert run["GEN2", "I"].max() > 3.0


def test_the_active_current_of_the_virtual_machine_falls_to_its_limit_in_the_long_run():
    """The power that is asked for is more than Kf ISS: the angle is held back, and the current settles at it."""
    case = feeder("REGFMB1", ISS=0.8, Kf=0.9)
    case.remove("fault")
    case.add("ParameterStep", id="more", parameter="GEN2.Pref", t=0.2, by=0.5)
    run = gc.simulate(gc.build(case), 30.0, 0.02)
    assert run["GEN2", "Id"][-1] == pytest.approx(0.9 * 0.8, abs=1e-8)
    assert run["GEN2", "slip"][-1] > 1e-3  # the machine wants to run ahead, and may not


@pytest.mark.parametrize(("written", "name"), [("REGFMA1", "REGFMA1"), ("REGFM_A1", "REGFMA1"), ("REGFMB1", "REGFMB1"),
                                               ("regfm_b1", "REGFMB1"), ("REGFMB1U", "REGFMB1")])
def test_records_of_a_dyr_file_take_the_place_of_a_generator(tmp_path, written, name):
    """Whatever name the specification, PSS/E or a user's model gives it; it is written by that of PSS/E."""
    case = gc.Case("two", base_mva=100)
    for number in (1, 2):
        case.add("Bus", id=number)
    case.add("StaticGenerator", bus=2, control="PV", P0=0.5, Sn=80.0, Xdp=0.12)
    case.add("InfiniteBus", bus=1, control="slack")
    case.add("Line", bus1=1, bus2=2, x=0.1)
    gc.save_case(case, tmp_path / "two.toml")
    order = available()[name].dyr
    params = available()[name].declares.params
    values = {key: param.default for key, param in params.items()} | {"kiv": 5.86, "mq": 0.03}
    (tmp_path / "two.dyr").write_text(f"2 '{written}' 1 " + " ".join(f"{values[key]:g}" for key in order) + " /\n")
    read = gc.load_case(tmp_path / "two.toml", tmp_path / "two.dyr")
    assert read["GEN2"].model == name
    assert (read["GEN2"].fields["Xdp"], read["GEN2"].fields["mq"]) == (0.12, 0.03)
    run = gc.simulate(gc.build(read), 0.5)
    assert np.abs(run.X - run.X[0]).max() < 1e-9
    gc.save_case(read, tmp_path / "again.dyr")
    assert f"'{name}'" in (tmp_path / "again.dyr").read_text()
    assert gc.load_case(tmp_path / "two.toml", tmp_path / "again.dyr")["GEN2"].fields == read["GEN2"].fields
    assert not any(note for note in read.notes if "skipped" in note or "no effect" in note)
    left = gc.load_case(tmp_path / "two.toml", tmp_path / "two.dyr", drop=[written])
    assert left["GEN2"].model == "StaticGenerator"
