"""A device that is out of service at t0 is as if it were not there, whatever it drives."""

import numpy as np
import pytest

import gridcore as gc

CONTROLS = [("kundur", "EXC_GEN1"), ("kundur", "GOV_GEN1"), ("kundur", "PSS_EXC_GEN1"),
            ("ieee39_converters", "REEC_GEN33"), ("ieee39_converters", "REPC_REEC_GEN33"),
            ("kundur_converter", "LOOPS_CONV12"), ("kundur_lcc", "INV")]


def out_and_absent(name, device):
    """The system with the device out of service, and the one without it and what hangs on it."""
    out, absent = gc.load_case(name), gc.load_case(name)
    out[device].fields["status"] = 0
    there = gc.build(name)
    for id in (*there.network.dependants(device), device):
        absent.remove(id)
    return gc.build(out), gc.build(absent)


@pytest.mark.parametrize(("name", "device"), CONTROLS)
def test_a_control_out_of_service_is_as_one_that_is_not_there(name, device):
    runs = [gc.simulate(system, t_end=0.3) for system in out_and_absent(name, device)]
    for pattern in ("BUS*.Vm", "GEN*.omega"):
        here, there = (np.asarray(run[pattern]) for run in runs)
        assert np.abs(here - there).max() < 1e-12


@pytest.mark.parametrize(("name", "device"), [("wscc9_paper", "EXC2"), ("wscc9_paper", "GOV2")])
def test_so_are_the_gradients(name, device):
    apart = gc.Integral(lambda v: (v["GEN2", "omega"] - 1) ** 2)
    wrt = ["GEN2.H", "GEN2.P0", "LINE7-8.x", "EXC1.KA"]
    here, there = (gc.adjoint(gc.simulate(system, t_end=1.0), apart, wrt).values
                   for system in out_and_absent(name, device))
    assert here == pytest.approx(there, rel=1e-9)
    run = gc.simulate(out_and_absent(name, device)[0], t_end=1.0)
    assert here == pytest.approx(gc.differences(run, apart, wrt).values, rel=1e-5)


@pytest.mark.parametrize("limiter", ["UEL1", "UEL2"])
def test_where_an_input_has_a_default_it_is_that_again(limiter):
    """The default of a gate is far below: at zero it would be closed."""
    plain, limited = gc.load_case("ieee39"), gc.load_case("ieee39")
    limited.add(limiter, exciter="EXC_GEN30", id="LIMITER", status=0)
    here, there = (gc.simulate(gc.build(case), t_end=1.3)["BUS1.Vm"] for case in (limited, plain))
    assert np.abs(here - there).max() < 1e-12
