"""What holds for every device of the library."""

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose
from standalone import Alone, shape_of

import gridcore_devices
from gridcore.equations import Trace
from gridcore.registry import registries as plugins
from gridcore_devices import GENROU, LVS3BL, SEXS, ZIP, Line, Transformer

HOSTS = {"machine": GENROU, "second": GENROU, "branch": Line, "load": ZIP, "exciter": SEXS, "transformer": Transformer,
         "relay": LVS3BL, "device": GENROU}
NAMES = list(gridcore_devices.DEVICES)
DEVICES = [getattr(gridcore_devices, name) for name in NAMES]
NO_EQUATIONS = {"JoinedBus", "BranchTrip", "Trip", "ParameterStep"}  # a name, and what only acts
WITH_EQUATIONS = [cls for cls in DEVICES if cls.__name__ not in NO_EQUATIONS]


def test_every_device_class_of_the_package_is_registered():
    assert [plugins.devices[name] for name in NAMES] == DEVICES
    assert [cls.__name__ for cls in DEVICES] == NAMES


@pytest.mark.parametrize("cls", DEVICES, ids=NAMES)
def test_everything_declared_is_documented(cls):
    declared = cls.declares
    assert cls.__doc__
    for table in (declared.params, declared.states, declared.algebraics, declared.inputs, declared.setpoints,
                  declared.modes, declared.quantities):
        for name, item in table.items():
            assert item.doc, f"{cls.__name__}.{name}"
    for guard in declared.guards.values():
        assert guard.doc, f"{cls.__name__}.{guard.name}"


@pytest.mark.parametrize("cls", WITH_EQUATIONS)
def test_traced_equations_and_their_derivatives_are_those_of_the_functions(cls):
    """Values, and the derivative along a random direction, against the complex step."""
    rng = np.random.default_rng(sum(map(ord, cls.__name__)))
    trace = Trace(shape_of(cls, **HOSTS))
    symbols = [s for s in trace.symbols if trace.kind(s) in "xup" and s[1] not in ("omega_b", "base_mva")]
    names = [".".join((*path, name)) for path, name in symbols]
    at = {name: rng.uniform(0.5, 1.5) for name in names}
    for address in [name for name in at if name.rpartition(".")[2] in ("E2", "SE2")]:
        at[address] += 2.0  # saturation points in their order
    free = {f"{name}_limit": 0.0 for name, state in cls.declares.states.items() if state.limits}
    along = dict(zip(names, rng.normal(size=len(names)), strict=True))

    def rows(values):
        alone = Alone(cls, HOSTS)
        alone.values.update(free, **values)
        pairs = [c for pair in alone.scope.flows().values() for c in pair]
        if "Sn" in cls.declares.params:
            pairs = [c * alone["Sn"] / 100.0 for c in pairs]
        return np.array([*alone.rates(), *alone.residuals(), *pairs])

    everything = list(trace.symbols.values())
    expression = ca.vertcat(*(e for _, e in trace.rows), ca.SX(0, 1))
    function = ca.Function("rows", everything, [expression])
    alone = Alone(cls, HOSTS)
    alone.values.update(free, **at)
    inputs = [alone.lookup(*s) for s in trace.symbols]
    direction = ca.vertcat(*(along.get(".".join((*path, name)), 0.0) for path, name in trace.symbols))
    derivative = ca.jtimes(expression, ca.vertcat(*everything, ca.SX(0, 1)), direction)
    slope = ca.Function("slope", everything, [derivative])
    assert_allclose(function(*inputs).full().ravel(), rows(at), rtol=1e-13, atol=1e-13)
    step = rows({name: at[name] + 1e-30j * along[name] for name in names}).imag / 1e-30
    assert_allclose(slope(*inputs).full().ravel(), step, rtol=1e-11, atol=1e-11)
