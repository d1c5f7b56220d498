"""PSS/E's governors on a test bench: at rest, and against their block diagrams."""

import numpy as np
import pytest
from governor_bench import P0, agree, driven, modes, profile, solved
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from standalone import Alone

from gridcore.errors import GridcoreError
from gridcore_devices import GENROU, GGOV1, HYGOV, IEEEG1, TGOV1

STEAM = dict(K=20.0, T1=0.2, T2=0.05, T3=0.15, Uo=0.3, Uc=-0.5, PMAX=0.95, PMIN=0.0, T4=0.25, T5=4.0, T6=0.4, T7=0.1,
             K1=0.3, K3=0.3, K5=0.25, K7=0.15)
HYDRO = dict(R=0.05, r=0.4, Tr=5.0, Tf=0.05, Tg=0.3, VELM=0.1, GMAX=0.9, GMIN=0.1, TW=1.2, At=1.2, Dturb=0.5, qNL=0.08)
GAS = dict(R=0.04, Tpelec=1.0, Kpgov=8.0, Kigov=2.0, Kdgov=0.3, Tdgov=0.4, Tact=0.4, Kturb=1.5, Wfnl=0.18, Tb=0.5,
           Ropen=0.4, Rclose=-0.3, Ldref=0.9, Kiload=0.67, Kpload=2.0, Flag=1.0)
STEAM_TGOV = dict(R=0.05, T1=0.5, T2=2.1, T3=7.0, VMIN=0.3, VMAX=0.8, Dt=0.3)
DATA = {TGOV1: STEAM_TGOV, IEEEG1: STEAM, HYGOV: HYDRO, GGOV1: GAS}
governors = pytest.mark.parametrize("cls", list(DATA), ids=lambda cls: cls.__name__)


def bench(cls, slopes, powers=(), **values):
    """A run of a governor with the data above, some of them changed."""
    options = {name: values.pop(name) for name in ("t_end", "step", "sn") if name in values}
    return driven(cls, DATA[cls] | values, slopes, powers, **options)


# ---------------------------------------------------------------- equilibrium


@st.composite
def valid(draw, cls):
    """The data of the test, every number moved; limits stay where the unit can run."""
    keep = {"VMIN", "VMAX", "PMIN", "PMAX", "GMIN", "GMAX", "Flag", "Ldref", "At", "Kturb", "Wfnl", "qNL", "K1"}
    values = {k: v if k in keep else v * draw(st.floats(0.5, 2.0)) for k, v in DATA[cls].items()}
    if cls is GGOV1:
        values |= dict(Rselect=float(draw(st.sampled_from([1, 0, -1, -2]))), Trate=draw(st.sampled_from([0.0, 120.0])),
                       Teng=draw(st.sampled_from([0.0, 0.2])), Kimw=draw(st.sampled_from([0.0, 0.02])),
                       Dm=draw(st.sampled_from([-1.0, 0.0, 0.5])), Tc=draw(st.sampled_from([0.0, 0.1])),
                       db=draw(st.sampled_from([0.0, 6e-4])))
    return values


@governors
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_start_is_the_equilibrium_for_any_valid_parameters(cls, data):
    values = data.draw(valid(cls))
    assert cls.check({p: getattr(q, "default", 0.0) for p, q in cls.declares.params.items()} | values) is None
    P = data.draw(st.floats(0.35, 0.75))
    at = Alone(cls, {"machine": GENROU}, **values, Pm=P, **{
        "machine.omega": 1.0, "machine.Sn": 100.0, "machine.bus": 1.0 + 0j, "machine.Rs": 0.0, "machine.Xdpp": 0.2,
        "machine.delta": np.arcsin(0.2 * P), "machine.status": 1.0, "machine.Xl": 0.1, "machine.Xdp": 0.3,
        "machine.Xqp": 0.3, "machine.Eqp": 1.0, "machine.psikd": 1.0, "machine.Edp": 0.0, "machine.psikq": 0.0})
    found = at.start()
    rest = at.but(**found)
    assert_allclose(rest.scope.rates(), 0, atol=1e-12)
    assert_allclose(rest.scope.residuals(), 0, atol=1e-12)


# ---------------------------------------------------------------- TGOV1


def test_tgov1_that_meets_its_valve_limits_is_its_block_diagram():
    slopes = [(1.0, -0.004), (6.0, 0.006), (14.0, -0.002)]
    run = bench(TGOV1, slopes)
    d, (_, slip) = STEAM_TGOV, profile(slopes, 0.0)

    def slope(t, x):
        free = (P0 - slip(t) / d["R"] - x[0]) / d["T1"]
        held = (x[0] >= d["VMAX"] and free > 0) or (x[0] <= d["VMIN"] and free < 0)
        valve = np.clip(x[0], d["VMIN"], d["VMAX"])
        return [0.0 if held else free, (valve - x[1]) / d["T3"]]

    x1, x2 = solved(slope, [P0, P0], run, [t for t, _ in slopes])
    x1 = np.clip(x1, d["VMIN"], d["VMAX"])
    agree(run, {"x1": x1, "Pm": x2 + d["T2"] / d["T3"] * (x1 - x2)}, 1e-4)
    assert modes(run) >= {"x1_at_VMAX", "x1_off_VMAX", "x1_at_VMIN"}


# ---------------------------------------------------------------- IEEEG1


def ieeeg1(d, slip):
    def slope(t, x):
        s, (lag, valve, x4, x5, x6, x7) = slip(t), x
        droop = d["K"] * (lag + d["T2"] / d["T1"] * (s - lag))
        speed = np.clip((P0 - droop - valve) / d["T3"], d["Uc"], d["Uo"])
        if (valve >= d["PMAX"] and speed > 0) or (valve <= d["PMIN"] and speed < 0):
            speed = 0.0
        steam = np.clip(valve, d["PMIN"], d["PMAX"])
        return [(s - lag) / d["T1"], speed, (steam - x4) / d["T4"], (x4 - x5) / d["T5"], (x5 - x6) / d["T6"],
                (x6 - x7) / d["T7"]]

    return slope


def test_ieeeg1_with_rate_and_position_limits_is_its_block_diagram():
    slopes = [(1.0, -0.03), (2.0, 0.0), (3.0, 0.08), (4.0, 0.0), (8.0, -0.005)]
    run = bench(IEEEG1, slopes, t_end=12.0)
    _, slip = profile(slopes, 0.0)
    _, valve, x4, x5, x6, x7 = solved(ieeeg1(STEAM, slip), [0, *[P0] * 5], run, [t for t, _ in slopes])
    Pm = STEAM["K1"] * x4 + STEAM["K3"] * x5 + STEAM["K5"] * x6 + STEAM["K7"] * x7
    agree(run, {"valve": np.clip(valve, 0.0, 0.95), "x5": x5, "x7": x7, "Pm": Pm}, 1e-4)
    assert modes(run) >= {"valve_speed_at_Uo", "valve_speed_off_Uo", "valve_speed_at_Uc", "valve_at_PMAX",
                          "valve_off_PMAX", "valve_at_PMIN"}


def test_ieeeg1_within_its_limits_is_its_transfer_function():
    """From PES-TR1's diagram: K (1 + s T2)/(1 + s T1) 1/(1 + s T3) and the turbine's parts."""
    names, d = ["droop_x", "valve", "x4", "x5", "x6", "x7"], STEAM
    at = Alone(IEEEG1, {"machine": GENROU}, **d, Pref=P0, Pm=P0, droop_x=0.0, **dict.fromkeys(names[1:], P0),
               **{"machine.omega": 1.0})
    A, B = at.jacobian(names), at.jacobian(["machine.omega", "Pref"])
    weights = np.array([0, 0, d["K1"], d["K3"], d["K5"], d["K7"]])
    for w in (0.02, 0.3, 2.0, 15.0):
        s = 1j * w
        found = weights @ np.linalg.solve(s * np.eye(6) - A, B)
        parts = np.cumprod([1 / (1 + s * d[T]) for T in ("T4", "T5", "T6", "T7")])
        turbine = np.dot([d[K] for K in ("K1", "K3", "K5", "K7")], parts) / (1 + s * d["T3"])
        governor = d["K"] * (1 + s * d["T2"]) / (1 + s * d["T1"])
        assert_allclose(found, [-governor * turbine, turbine], rtol=1e-12)


def test_ieeeg1_without_its_lags_is_one_lag():
    slopes = [(1.0, -0.002), (3.0, 0.0)]
    values = dict(T1=0.0, T2=0.0, T4=0.0, T5=0.0, T6=0.0, T7=0.0)
    run = bench(IEEEG1, slopes, t_end=6.0, **values)
    _, slip = profile(slopes, 0.0)
    (valve,) = solved(lambda t, x: [(P0 / 1.0 - 20 * slip(t) - x[0]) / 0.15], [P0], run, [1.0, 3.0])
    agree(run, {"valve": valve, "Pm": valve}, 1e-5)


@pytest.mark.parametrize(("change", "word"), [
    (dict(JBUS=5.0), "JBUS"), (dict(PMIN=1.0), "PMIN"), (dict(T1=0.0), "T1"),
    (dict(K1=0.0, K3=0.0, K5=0.0, K7=0.0), "K1")])
def test_ieeeg1_refuses_what_it_does_not_model(change, word):
    with pytest.raises(GridcoreError, match=word):
        bench(IEEEG1, [], t_end=0.1, **change)


# ---------------------------------------------------------------- HYGOV


def hygov(d, slip):
    gate0 = P0 / d["At"] + d["qNL"]

    def slope(t, x):
        e, c, g, q = x
        moves = (d["R"] * gate0 - slip(t) - d["R"] * np.clip(c, d["GMIN"], d["GMAX"]) - e) / d["Tf"]
        speed = np.clip((e / d["Tr"] + moves) / d["r"], -d["VELM"], d["VELM"])
        if (c >= d["GMAX"] and speed > 0) or (c <= d["GMIN"] and speed < 0):
            speed = 0.0
        return [moves, speed, (np.clip(c, d["GMIN"], d["GMAX"]) - g) / d["Tg"], (1 - (q / g) ** 2) / d["TW"]]

    return slope, gate0


def test_hygov_with_rate_and_gate_limits_is_its_block_diagram():
    slopes = [(1.0, -0.02), (4.0, 0.0), (12.0, 0.06), (14.5, 0.0)]
    limits = dict(VELM=0.04, GMIN=0.3)
    run = bench(HYGOV, slopes, t_end=40.0, **limits)
    d, (_, slip) = HYDRO | limits, profile(slopes, 0.0)
    slope, gate0 = hygov(d, slip)
    _, c, g, q = solved(slope, [0, gate0, gate0, gate0], run, [t for t, _ in slopes])
    Pm = d["At"] * (q / g) ** 2 * (q - d["qNL"]) - d["Dturb"] * g * np.array([slip(t) for t in run.t])
    agree(run, {"c": np.clip(c, d["GMIN"], d["GMAX"]), "g": g, "q": q, "Pm": Pm}, 1e-4)
    assert modes(run) >= {"speed_at_VELM", "speed_at_speed_min", "c_at_GMAX", "c_off_GMAX", "c_at_GMIN"}


def test_power_of_hygov_first_moves_the_wrong_way():
    """Water inertia: on opening, power falls by twice what it will rise by (IEEE Working Group 1992, section 2)."""
    at = Alone(HYGOV, {"machine": GENROU}, **(HYDRO | dict(Dturb=0.0, qNL=0.0)), Pm=P0, nref=0.03, e=0.0,
               **dict.fromkeys("cgq", P0 / 1.2), **{"machine.omega": 1.0})
    slopes = at.jacobian(["g", "q"], of=lambda a: -a.residuals())
    rate = at.jacobian(["g", "q"], of=lambda a: a.rates()[[3]])
    at_once = slopes[0, 0]
    in_the_end = at_once - slopes[0, 1] * rate[0, 0] / rate[0, 1]
    signs = np.sign(in_the_end)
    assert_allclose(np.abs(at_once / in_the_end), 2.0, rtol=1e-12)
    assert np.sign(at_once) == -signs


# ---------------------------------------------------------------- GGOV1


def ggov1(values, slip, seen):
    """All of it, plainly, and where it rests."""
    d = {p: q.default for p, q in GGOV1.declares.params.items()} | values
    base = 100.0 / d["Trate"] if d["Trate"] else 1.0
    stroke = P0 * base / d["Kturb"] + d["Wfnl"]
    reference = d["R"] * {1: P0 * base, 0: 0.0, -1: stroke, -2: stroke}[d["Rselect"]]

    def selected(t, x):
        Pe, xd, xi, xt, xa, xw, valve, _, tex, _ = x
        back = {1: Pe, 0: 0.0, -1: valve, -2: xa}[d["Rselect"]]
        s = slip(t)
        if d["db"]:
            s = np.sign(s) * max(abs(s) - d["db"], 0.0)
        e = np.clip(reference - s - d["R"] * back, d["minerr"], d["maxerr"])
        D = d["Kdgov"] * (e - xd) / d["Tdgov"]
        requests = (d["Kpgov"] * e + D + xi, d["Kpload"] * (d["Ldref"] / d["Kturb"] + d["Wfnl"] - tex) + xt,
                    xa + d["Ka"] * d["DELT"] * (d["aset"] - (slip(t) - xw) / d["Ta"]) if d["Ka"] else np.inf)
        return e, D, np.clip(min(requests), d["VMIN"], d["VMAX"])

    def slope(t, x):
        Pe, xd, xi, xt, xa, xw, valve, heat, tex, turbine = x
        e, D, fsr = selected(t, x)
        wf = valve * (1 + slip(t) * d["Flag"])
        hot = wf * (1 + slip(t)) ** min(d["Dm"], 0.0)
        return [(base * seen(t) - Pe) / d["Tpelec"], (e - xd) / d["Tdgov"], d["Kigov"] / d["Kpgov"] * (fsr - D - xi),
                d["Kiload"] / d["Kpload"] * (fsr - xt), (fsr - xa) / d["DELT"], (slip(t) - xw) / d["Ta"],
                np.clip((fsr - valve) / d["Tact"], d["Rclose"], d["Ropen"]), (hot - heat) / d["Tsb"],
                (heat + d["Tsa"] / d["Tsb"] * (hot - heat) - tex) / d["Tfload"],
                (d["Kturb"] * (wf - d["Wfnl"]) - turbine) / d["Tb"]]

    def power(t, x):
        wf = x[6] * (1 + slip(t) * d["Flag"])
        lead = d["Tc"] / d["Tb"] * (d["Kturb"] * (wf - d["Wfnl"]) - x[9])
        return (x[9] + lead - max(d["Dm"], 0.0) * slip(t)) / base

    return slope, power, [P0 * base, 0, stroke, stroke, stroke, 0, stroke, stroke, stroke, P0 * base]


GAS_RUNS = {
    # the load limiter takes over from the governor and gives back; the governor's error meets its limit
    "low frequency": ([(1.0, -0.008), (9.0, 0.01), (16.0, 0.0)], [], {}, {"fsrn_to_second", "fsrn_to_first",
                                                                         "e_at_maxerr", "e_off_maxerr"}),
    # a fault: power gone, the speed rises; the acceleration limiter holds what the governor would open
    "acceleration": ([(1.0, 0.03), (1.2, -0.02), (1.6, 0.0)], [(1.0, 0.1), (1.2, 0.75), (3.0, 0.7)], {},
                     {"low_to_second", "low_to_first"}),
    "fast valve": ([(1.0, 0.02), (2.0, -0.01), (4.0, 0.0)], [], dict(Ropen=0.08, Rclose=-0.08, Ka=0.0),
                   {"valve_speed_at_Rclose", "valve_speed_off_Rclose"}),
    "closed": ([(1.0, 0.02), (4.0, -0.015), (8.0, 0.0)], [], dict(VMIN=0.25, Rselect=-1.0),
               {"fsr_at_VMIN", "fsr_off_VMIN"}),
    "on its own rating": ([(1.0, -0.002), (5.0, 0.0)], [(6.0, 0.8)], dict(Trate=125.0, Dm=0.5, Tc=0.2), set()),
    "requested stroke": ([(1.0, -0.002), (5.0, 0.0)], [], dict(Rselect=-2.0, Dm=-1.0, db=1e-3, Ka=0.0),
                         {"banded_below"}),
    "isochronous": ([(1.0, 0.001), (2.0, -0.001), (3.0, 0.0)], [], dict(Rselect=0.0), set()),
}


@pytest.mark.parametrize("name", GAS_RUNS)
def test_ggov1_is_its_block_diagram(name):
    slopes, powers, values, must = GAS_RUNS[name]
    run = bench(GGOV1, slopes, powers, t_end=20.0, **values)
    _, slip = profile(slopes, 0.0)
    seen, _ = profile(powers, P0)
    slope, power, x0 = ggov1(GAS | values, slip, seen)
    assert_allclose(slope(0.0, x0), 0, atol=1e-12)
    x = solved(slope, x0, run, sorted({t for t, _ in (*slopes, *powers)}))
    Pm = np.array([power(t, at) for t, at in zip(run.t, x.T)])
    agree(run, {"valve": x[6], "xi": x[2], "xt": x[3], "tex": x[8], "Pm": Pm}, 1e-4)
    assert modes(run) >= must


def test_ggov1_that_is_accelerated_opens_no_faster_than_its_limiter_lets_it():
    """In control, fsr rises by ``Ka (aset - a)``, whatever DELT is."""
    found = []
    for delt in (1 / 240, 1 / 60):
        run = bench(GGOV1, [(1.0, 0.004)], [(1.0, 0.2)], t_end=4.0, DELT=delt, Ta=0.02)
        late = (run.t > 1.5) & (run["G", "low_side"] == 1)
        assert late.sum() > 200
        found.append(np.gradient(run["G", "fsr"][late], run.t[late])[5:-5])
    for rates in found:
        assert_allclose(rates, 10.0 * (0.01 - 0.004), rtol=1e-3)


def test_integrators_that_are_not_in_control_follow_the_one_that_is():
    """After a minute under the load limiter the governor takes over at once: nothing has wound up."""
    slopes = [(1.0, -0.01), (2.0, 0.0), (62.0, 0.01), (63.0, 0.0)]
    run = bench(GGOV1, slopes, t_end=66.0, step=0.01)
    held = (run.t > 50) & (run.t < 62)
    assert (run["G", "fsrn_side"][held] == 1).all()
    assert np.ptp(run["G", "xi"][held]) < 1e-3
    assert_allclose(run["G", "xi"][held], run["G", "fsr"][held], atol=1e-3)
    back = next(e.t for e in run.events if e.item == "fsrn_to_first" and e.t > 62)
    assert back < 63.5


def test_supervisory_control_brings_the_power_back():
    run = bench(GGOV1, [], [(1.0, 0.72)], t_end=40.0, step=0.01, Kimw=0.01, Ka=0.0)
    xm = run["G", "xm"]
    assert run["G", "Pmwset"][0] == pytest.approx(P0)
    late = run.t > 15
    assert_allclose(np.gradient(xm[late], run.t[late]), -0.01 * 0.02, rtol=1e-3)
    assert xm[-1] > -1.1 * GAS["R"]


def test_delay_of_an_engine_delays_the_power():
    slopes = [(1.0, -0.002), (3.0, 0.0)]
    now, later = (bench(GGOV1, slopes, t_end=8.0, Teng=T, Ka=0.0, Flag=0.0, Tb=0.0, step=0.005) for T in (0.0, 0.3))
    expected = np.interp(now.t - 0.3, now.t, now["G", "Pm"])
    assert np.ptp(expected) > 0.1
    assert np.abs(np.interp(now.t, later.t, later["G", "Pm"]) - expected).max() < 0.02 * np.ptp(expected)


@pytest.mark.parametrize(("change", "word"), [
    (dict(Rselect=2.0), "Rselect"), (dict(Flag=2.0), "Flag"), (dict(Tb=0.0, Tc=0.1), "Tb"), (dict(Tdgov=0.0), "Tdgov"),
    (dict(VMIN=2.0), "VMIN"), (dict(Kigov=0.0), "Kigov")])
def test_ggov1_refuses_data_that_make_no_governor(change, word):
    with pytest.raises(GridcoreError, match=word):
        bench(GGOV1, [], t_end=0.1, **change)


# ---------------------------------------------------------------- data


def test_records_are_in_the_order_of_the_industry():
    """Of ACTIVSg2000_dynamics.dyr (Texas A&M University), a record of each."""
    for cls, record in ((TGOV1, "0.05 0.5 1 0 3 9.00009 0"),
                        (IEEEG1, "0 0 25 0.2 0 0.1 0.1 -0.1 1.05 0 0.25 0.4 0 7 0.6 0 0.4 0 0 0 0 0"),
                        (HYGOV, "0.05 0.3 5 0.05 0.5 0.2 1 0 1.3 1.2 0.5 0.08"),
                        (GGOV1, "1 1 0.05 1 0.05 -0.05 10 2 0 1 1 0.15 0.5 1.5 0.2 0.5 0 0 3 2 0.67 1 0 0.1 -0.1 0 "
                                "0.01 10 0.1 100 0 4 5 99 -99")):
        values = dict(zip(cls.dyr, map(float, record.split()), strict=True))
        required = {p for p, q in cls.declares.params.items() if not isinstance(q.default, float)}
        assert required <= set(values)
        values = {k: v for k, v in values.items() if k}
        assert cls.check(values | {p: q.default for p, q in cls.declares.params.items() if p not in values}) is None
