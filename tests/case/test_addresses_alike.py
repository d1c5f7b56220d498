"""One address means one thing wherever it is given, and so do a case, a system and a run."""

import warnings

import numpy as np
import pytest

import gridcore as gc
from gridcore.case import as_case, patterns_of
from gridcore.equilibrium import as_system, starting_at
from gridcore.errors import CaseError
from gridcore_autodiff.function import Function
from gridcore_estimation import Measurements
from gridcore_optimisation import Constraint
from gridcore_optimisation.measures import Simulation
from gridcore_optimisation.parameters import Parameters

CASE = gc.load_case("wscc9")
SYSTEM = gc.build(CASE)
RUN = gc.simulate(SYSTEM, t_end=0.2)
DATA = Measurements(RUN.t, np.full(len(RUN.t), "GEN2.omega"), RUN["GEN2.omega"], np.ones(len(RUN.t)))
SPEED = gc.Terminal(lambda v: v["GEN2", "omega"], name="speed")


@pytest.mark.parametrize(("given", "means"), [
    (("GEN2", "H"), ("GEN2.H",)), (("GEN*", "H"), ("GEN*.H",)), ([("GEN2", "H"), "GEN1.H"], ("GEN2.H", "GEN1.H")),
    (("GEN2.H", "GEN1.H"), ("GEN2.H", "GEN1.H")), (["GEN2", "H"], ("GEN2", "H")), ((), ()), ("GEN2.H", ("GEN2.H",)),
    (("GEN2.H", "GEN1"), ("GEN2.H", "GEN1")), (("a", "b", "c"), ("a", "b", "c"))])
def test_a_pair_of_device_and_name_is_one_address(given, means):
    assert patterns_of(given) == means


#: Of a function of an address, what it makes of it, in numbers.
TAKES_QUANTITIES = {
    "run": lambda a: RUN[a],
    "at": lambda a: RUN.at(0.11, a)["GEN2.omega"],
    "resample": lambda a: RUN.resample(0.05, a)["GEN2.omega"],
    "peaks": lambda a: RUN.peaks(a)["max"].values,
    "to_pandas": lambda a: RUN.to_pandas(a).values,
    "labelled": lambda a: gc.analyses.labelled(RUN, a).values,
    "record": lambda a: gc.simulate(SYSTEM, t_end=0.1, record=a)["GEN2.omega"],
    "tsa": lambda a: gc.analyses.tsa(RUN, "GEN2.H", a).values,
    "plot": lambda a: gc.analyses.plot(RUN, of=a).axes[0].lines[0].get_ydata(),
}
TAKES_PARAMETERS = {
    "set": lambda a: _changed(a).records[_changed(a).ids().index("GEN2")].fields["H"],
    "with_values": lambda a: SYSTEM.with_values({a: 5.0}).Z0,
    "adjoint": lambda a: gc.adjoint(RUN, SPEED, a).values,
    "forward_gradient": lambda a: gc.analyses.forward_gradient(RUN, SPEED, a).values,
    "differences": lambda a: gc.differences(RUN, SPEED, a).values,
    "tsa": lambda a: gc.analyses.tsa(RUN, a, "GEN2.omega").values,
    "root_locus": lambda a: gc.analyses.root_locus(SYSTEM, a, [5.0, 6.0]).eigenvalues,
    "damping_map": lambda a: gc.analyses.damping_map(SYSTEM, {a: [5.0, 6.0], "GEN1.H": [20.0, 21.0]}).eigenvalues,
    "modes": lambda a: gc.analyses.small_signal(SYSTEM).sensitivities(a, [2])["eigenvalue"].values,
    "vary": lambda a: _swept(vary={a: [5.0, 6.0]}),
    "rows": lambda a: _swept(rows=[{a: 5.0}]),
    "draw": lambda a: _swept(random={"samples": 2, "draw": {a: {"distribution": "norm", "loc": 6.0, "scale": 0.1}}}),
    "starting_at": lambda a: starting_at(SYSTEM, {_alike(a, "GEN2.omega"): 1.01}).Z0,
    "wrt of optimise": lambda a: _optimised(a).x,
    "bounds of optimise": lambda a: _optimised(bounds={a: (6.0, 6.5)}).x,
    "scale of optimise": lambda a: _optimised(scale={a: 0.1}).x,
    "wrt of fit": lambda a: _fitted(a).values,
    "start of fit": lambda a: _fitted(start={a: 6.2}).start,
    "bounds of fit": lambda a: _fitted(bounds={a: (6.3, 7.0)}, method="trf").values,
    "scale of fit": lambda a: _fitted(scale={a: 2.0}).values,
    "identifiability": lambda a: gc.analyses.identifiability(SYSTEM, DATA, a, scale={a: 2.0}).S,
    "parameter of critical": lambda a: _critical(_alike(a, "fault.clear")).value,
    "wrt of critical": lambda a: _critical(wrt=a).sensitivities.values,
}


def _alike(given, address):
    """Another address, as a pair where `given` is one."""
    return tuple(address.split(".")) if isinstance(given, tuple) else address


def _optimised(wrt="GEN2.H", **options):
    """Three iterations: the same ones give the same numbers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return gc.analyses.optimise(SYSTEM, SPEED, wrt, t_end=0.15, options={"maxiter": 3}, **options)


def _fitted(wrt="GEN2.H", **options):
    return gc.analyses.estimate(SYSTEM, DATA, wrt, **options)


def _critical(parameter="fault.clear", **options):
    return gc.analyses.critical_value(SYSTEM, parameter, between=(0.183, 0.4), t_end=1.0, tolerance=0.01, **options)


def _changed(address):
    case = CASE.copy()
    case.set(address, 5.0)
    return case


def _swept(**of):
    table = gc.analyses.sweep(SYSTEM, t_end=0.1, processes=1, measures=["max GEN2.omega"], **of)
    return table.to_pandas().select_dtypes("number").drop(columns="seconds", errors="ignore").values


@pytest.mark.parametrize("of", TAKES_QUANTITIES)
def test_quantities_are_named_by_text_or_pair_alike(of):
    assert np.array_equal(TAKES_QUANTITIES[of]("GEN2.omega"), TAKES_QUANTITIES[of](("GEN2", "omega")))


@pytest.mark.parametrize("of", TAKES_PARAMETERS)
def test_parameters_are_named_by_text_or_pair_alike(of):
    values = TAKES_PARAMETERS[of]
    assert np.array_equal(values("GEN2.H"), values(("GEN2", "H")))


def test_two_ids_of_devices_are_no_address():
    trips = [id for id in CASE.ids() if id.startswith("LINE")][:2]
    table = gc.analyses.sweep("wscc9", contingencies={"trips": tuple(trips)}, t_end=0.15, processes=1)
    assert len(table.to_pandas()) == 2


@pytest.mark.parametrize(("ask", "example"), [
    (lambda: RUN["GEN2"], "quantity, as 'GEN2.omega'"), (lambda: RUN.at(0.1)["GEN2"], "quantity, as 'GEN2.omega'"),
    (lambda: CASE.copy().set("GEN2", 5), "field, as 'GEN2.H'"),
    (lambda: SYSTEM.with_values({"GEN2": 5}), "parameter, as 'GEN2.H'"),
    (lambda: SYSTEM.layout.address("GEN2"), "quantity, as 'GEN2.omega'")])
def test_what_is_no_address_is_told_how_one_is_written(ask, example):
    with pytest.raises(CaseError, match=f"'GEN2' names no device and {example} does"):
        ask()


def test_a_pattern_is_differenced_in_what_can_be_changed():
    case = CASE.copy()
    case.set("GEN2.Qmin", float("-inf"))
    run = gc.simulate(gc.build(case), t_end=0.15)
    found = gc.differences(run, SPEED, "GEN2.*")
    assert {"GEN2.H", "GEN2.D"} <= set(found.parameter.values)
    assert "GEN2.Qmin" not in found.parameter.values
    exact = gc.adjoint(run, SPEED, list(found.parameter.values))
    assert np.allclose(found, exact, rtol=1e-6, atol=1e-8)
    with pytest.raises(CaseError, match=r"GEN2.Rs = 0 is nearer than 0.0001 to its bound"):
        gc.differences(run, SPEED, "GEN2.Rs")
    with pytest.raises(CaseError, match=r"GEN2.Qmin is -inf: there is nothing to add a difference to"):
        gc.differences(run, SPEED, "GEN2.Qmin")


@pytest.mark.parametrize("study", [CASE, "wscc9", SYSTEM, RUN, RUN.at(0.1)], ids=str)
def test_a_case_its_name_a_system_and_a_run_are_taken_alike(study):
    assert as_case(study).ids() == CASE.ids()
    assert np.array_equal(as_system(study).Z0, SYSTEM.Z0)
    assert np.array_equal(gc.build(study).Z0, SYSTEM.Z0)
    assert np.array_equal(starting_at(study, {"GEN2.omega": 1.001}).Z0, starting_at(SYSTEM, {"GEN2.omega": 1.001}).Z0)
    assert gc.analyses.positions(study) == gc.analyses.positions(SYSTEM)
    values = {"GEN2.H": [5.0, 6.0], "GEN1.H": [20.0, 21.0]}
    assert np.array_equal(gc.analyses.damping_map(study, values).eigenvalues,
                          gc.analyses.damping_map(SYSTEM, values).eigenvalues)
    assert len(gc.analyses.widen_limits(study)) == len(gc.analyses.with_converters(study)) == len(CASE)
    assert len(gc.analyses.sweep(study, vary={"GEN2.H": [5.0]}, t_end=0.05, processes=1).to_pandas()) == 1


def test_the_system_of_a_run_is_taken_as_it_is():
    run = gc.simulate(SYSTEM.with_values({"GEN2.H": 5.0}), t_end=0.05)
    assert as_system(run) is run.system
    assert as_case(run).records is run.system.case.records


def test_what_is_no_case_is_told():
    with pytest.raises(CaseError, match="5 is no case: give a Case, a system or a run, or the name or path of one"):
        gc.build(5)


# Whatever the command line takes with a unit takes one in Python ----------------------------------------

CLEAR = ("smib", Measurements(np.array([0.2, 0.4]), np.full(2, "GEN1.omega"), np.ones(2), np.ones(2)), "fault.clear")
POWER = gc.Terminal(lambda v: v["GEN2", "P0"], unit="MW")
TAKES_UNITS = {
    "t_end of fit": (lambda v: gc.analyses.identifiability(SYSTEM, DATA, "GEN2.H", t_end=v).S, 0.2, "200 ms"),
    "start of fit": (lambda v: gc.analyses.identifiability(*CLEAR, start={"fault.*": v}).S, 0.16, "160 ms"),
    "bounds": (lambda v: Parameters.of(SYSTEM, "fault.*", {"fault.clear": (v, None)}, None).low, 0.15, "150 ms"),
    "limits": (lambda v: Constraint(POWER, low=v).limits(CASE), 0.5, "500 kW"),
    "t_end": (lambda v: Simulation([SPEED], v).value_and_gradient(SYSTEM, ["GEN2.H"])[1], 0.05, "50 ms"),
    "vary": (lambda v: _swept(vary={"fault.clear": [v], "trip.t": [0.15]})[:, -1], 0.15, "150 ms"),
    "t_end of torch": (lambda v: Function(SYSTEM, SPEED, "GEN2.H", v, {}).at(np.array([6.4]))[1], 0.05, "50 ms"),
}


@pytest.mark.parametrize("of", TAKES_UNITS)
def test_a_value_may_have_a_unit(of):
    values, number, text = TAKES_UNITS[of]
    assert np.array_equal(values(number), values(text))


def test_a_unit_of_something_else_is_refused():
    for ask in (lambda: Parameters.of(SYSTEM, "fault.clear", {"*": ("1 kV", None)}, None),
                lambda: Constraint(POWER, low="1 s").limits(CASE),
                lambda: gc.analyses.identifiability(*CLEAR, start={"fault.clear": "1 kV"})):
        with pytest.raises(CaseError, match="unit"):
            ask()


def test_bounds_of_a_fit_may_be_a_pattern():
    fit = gc.analyses.estimate(SYSTEM, DATA, "GEN2.H", bounds={"GEN*": (1.0, "6.1 s")}, start={"GEN?.H": 6.0})
    assert fit["GEN2.H"] <= 6.1
