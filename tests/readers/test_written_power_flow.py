"""The power flow of a file that is written is that of the case, whatever devices it has."""

import numpy as np
import pytest
from test_dc_lines import RECORDS
from test_dc_lines import read as with_line

import gridcore as gc
from gridcore.case.files import shipped
from gridcore_readers import matpower, raw

CASES = [name for name in shipped() if not name.startswith(("wscc9_estimation", "wscc9_recovery"))
         and gc.load_case(name).of("Bus")]  # the others have branches that neither format has, or no buses
READ = {"raw": raw.read, "m": matpower.read}


def voltages(case):
    return gc.build(case).operating_point.power_flow.V


@pytest.mark.parametrize("suffix", READ)
@pytest.mark.parametrize("name", CASES)
def test_that_of_a_shipped_case_comes_back(tmp_path, name, suffix):
    case = gc.load_case(name)
    gc.save_case(case, tmp_path / f"x.{suffix}")
    assert np.abs(voltages(READ[suffix](tmp_path / f"x.{suffix}")) - voltages(case)).max() < 1e-12


@pytest.mark.parametrize("model", RECORDS)
def test_lines_for_direct_current_are_what_they_draw_in_a_format_without_them(tmp_path, model):
    case = with_line(tmp_path, f"'LINK A' '{model}' {RECORDS[model]} /\n")
    gc.save_case(case, tmp_path / "x.m")
    assert voltages(matpower.read(tmp_path / "x.m")) == pytest.approx(voltages(case), abs=1e-9)
    case["INV_DC_LINK-A"].fields["status"] = case["DC_LINK-A"].fields["status"] = 0
    for suffix in READ:
        gc.save_case(case, tmp_path / f"out.{suffix}")
        assert voltages(READ[suffix](tmp_path / f"out.{suffix}")) == pytest.approx(voltages(case), abs=1e-9)


def two_buses(**second):
    case = gc.Case("x")
    for number in (1, 2):
        case.add("Bus", id=number, kv=20)
    case.add("Line", bus1=1, bus2=2, r=0.01, x=0.1)
    case.add("ZIP", bus=2, P0=0.5, Q0=0.2)
    case.add("StaticGenerator", bus=1, control="slack", V0=1.04)
    case.add("StaticGenerator", id="WIND", control="PQ", P0=0.2, Q0=0.05, **second)
    return case


@pytest.mark.parametrize("suffix", READ)
@pytest.mark.parametrize("status", [0, 1])
@pytest.mark.parametrize(("bus", "held"), [(1, None), (2, None), (2, 0), (2, 1)])
def test_what_injects_beside_one_that_holds_the_voltage_leaves_it_its_voltage(tmp_path, suffix, status, bus, held):
    case = two_buses(bus=bus, status=status)
    if held is not None:  # and one that would, in service or not
        case.add("StaticGenerator", id="HELD", bus=bus, control="PV", P0=0.1, V0=1.02, Qmin=-0.2, Qmax=0.2, status=held)
    gc.save_case(case, tmp_path / f"x.{suffix}")
    assert np.abs(voltages(READ[suffix](tmp_path / f"x.{suffix}")) - voltages(case)).max() < 1e-12


def test_a_generator_goes_on_holding_its_voltage_though_its_power_at_t0_is_at_its_limit(tmp_path):
    """What a case begins with need be no solution, and is not taken for one in a file that was written of it."""
    case = two_buses(bus=2)
    case["WIND"].fields.update(control="PV", V0=1.03, Q0=0.1, Qmax=0.1)
    case["LOAD2"].fields.update(P0=0.2, Q0=0.1)
    gc.save_case(case, tmp_path / "x.raw")
    again = raw.read(tmp_path / "x.raw")
    assert [r.fields["control"] for r in again.of("StaticGenerator")] == ["slack", "PV"]
    text = (tmp_path / "x.raw").read_text()
    (tmp_path / "x.raw").write_text(text.replace("/ gridcore", "/ PSS/E-33.4"))
    assert [r.fields["control"] for r in raw.read(tmp_path / "x.raw").of("StaticGenerator")] == ["slack", "PQ"]
