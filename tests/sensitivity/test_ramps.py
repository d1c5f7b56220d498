"""A ramp on what the power flow reads too: derivatives in the parameter it replaces go through both."""

import numpy as np
import pytest

import gridcore as gc

QUANTITIES = [("GEN2", "omega"), ("BUS5", "Vm"), ("GEN3", "delta")]
ADDRESSES = ["LOAD5.P0", "LINE7-8.x", "load.t0", "load.scale", "line.t1", "again.by", "GEN2.P0"]


def study() -> gc.Case:
    case = gc.load_case("wscc9")
    case.remove("fault")
    case.remove("trip")
    case.add(gc.Ramp(id="load", parameter="LOAD5.P0", t0=0.1037, t1=0.3219, scale=1.2))
    case.add(gc.Ramp(id="line", parameter="LINE7-8.x", t0=0.1537, t1=0.4219, scale=0.9))
    case.add(gc.Ramp(id="again", parameter="LOAD5.P0", t0=0.4537, t1=0.6219, by=0.1))
    return case


def end(case: gc.Case) -> np.ndarray:
    run = gc.simulate(gc.build(case), t_end=0.8, step=0.01)
    return np.array([run[q][-1] for q in QUANTITIES])


@pytest.fixture(scope="module")
def gradient():
    run = gc.simulate(gc.build(study()), t_end=0.8, step=0.01)
    return gc.adjoint(run, [gc.Terminal(lambda v, q=q: v[q]) for q in QUANTITIES], wrt=ADDRESSES)


@pytest.mark.parametrize("address", ADDRESSES)
def test_the_gradient_is_that_of_differences_of_the_program(gradient, address):
    def at(change: float) -> np.ndarray:
        case = study()
        device, _, name = address.rpartition(".")
        record = case[device]
        value = record.fields.get(name, record.device.declares.params[name].default)
        case.set(address, value + change)
        return end(case)

    h = 1e-4
    differences = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)
    np.testing.assert_allclose(gradient.sel(parameter=address).values, differences, rtol=1e-6, atol=1e-8)
