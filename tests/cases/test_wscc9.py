"""WSCC 9-bus: published operating point, fault study, and the same study written out independently."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import gridcore as gc

MACHINES = ("GEN1", "GEN2", "GEN3")


def build(name="wscc9", **changes):
    case = gc.load_case(name)
    for address, value in changes.items():
        case.set(address.replace("__", "."), value)
    return gc.build(case)


def study(after, t_end=2.0, step=0.005):
    return gc.simulate(build(fault__clear=0.1 + after, trip__t=0.1 + after), t_end=t_end, step=step)


def spread(run):
    """Largest angle between two machines, over time (rad)."""
    return np.ptp([run[g, "delta"] for g in MACHINES], axis=0)


@pytest.fixture(scope="module")
def start():
    run = gc.simulate(build(), t_end=0.01, step=0.01)

    def at(device, name):
        return float(run[device, name][0])

    return at


def test_load_flow_is_that_of_the_book(start):
    """Sauer & Pai (1998), figure 7.4."""
    voltages = [(1.04, 0.0), (1.025, 9.3), (1.025, 4.7), (1.026, -2.2), (0.996, -4.0), (1.013, -3.7),
                (1.026, 3.7), (1.016, 0.7), (1.032, 2.0)]
    for number, (Vm, Va) in enumerate(voltages, 1):
        assert start(f"BUS{number}", "Vm") == pytest.approx(Vm, abs=5.1e-4)
        assert np.degrees(start(f"BUS{number}", "Va")) == pytest.approx(Va, abs=0.051)
    assert_allclose([start(g, "P") for g in MACHINES], [0.716, 1.63, 0.85], atol=6e-4)
    assert_allclose([start(g, "Q") for g in MACHINES], [0.27, 0.067, -0.109], atol=6e-4)


def test_initial_conditions_are_those_of_the_book(start):
    """Section 7.6. Its VR3 = 1.453 is rounded on the way: 1.403 (1 + 0.0039 e^(1.555 1.403)) = 1.4515."""
    def values(prefix, name):
        return [start(f"{prefix}{k}", name) for k in (1, 2, 3)]

    assert_allclose(np.degrees(values("GEN", "delta")), [3.58, 61.1, 54.2], atol=0.07)
    assert_allclose(values("GEN", "Efd"), [1.082, 1.789, 1.403], atol=5.1e-4)
    assert_allclose(values("EXC", "Rf"), [0.195, 0.322, 0.252], atol=6e-4)
    assert_allclose(values("EXC", "VR"), [1.105, 1.902, 1.453], atol=1.6e-3)
    assert_allclose(values("EXC", "Vref"), [1.095, 1.120, 1.098], atol=5.1e-4)


def test_clearing_after_83_ms_is_stable_and_after_95_ms_is_not():
    assert spread(study(0.083)).max() < np.pi
    assert spread(study(0.095)).max() > 2 * np.pi


class Written:
    """The same study as ordinary equations: loads and network reduced to the machines' terminals."""

    def __init__(self):
        case = gc.load_case("wscc9")
        self.machine = [case[g].fields for g in MACHINES]
        self.exciter = [case[f"EXC{k}"].fields for k in (1, 2, 3)]
        self.case = case

    def column(self, records, name):
        return np.array([r.get(name, 0.0) for r in records])

    def reduced(self, V, faulted=False, tripped=False):
        """Impedance matrix seen from the terminals."""
        Y = np.zeros((9, 9), dtype=complex)
        for r in (*self.case.of("Line"), *self.case.of("Transformer")):
            f = r.fields
            if tripped and (f["bus1"], f["bus2"]) == (5, 7):
                continue
            a, b, y = f["bus1"] - 1, f["bus2"] - 1, 1 / (f.get("r", 0.0) + 1j * f["x"])
            Y[a, a] += y + 0.5j * f.get("b", 0.0)
            Y[b, b] += y + 0.5j * f.get("b", 0.0)
            Y[a, b] -= y
            Y[b, a] -= y
        for r in self.case.of("ZIP"):
            k = r.fields["bus"] - 1
            Y[k, k] += (r.fields["P0"] - 1j * r.fields["Q0"]) / abs(V[k]) ** 2
        if faulted:
            Y[6, 6] += 1 / 1e-4j
        return np.linalg.inv(Y)[:3, :3]

    def rates(self, x, Z, Pm, Vref):
        delta, omega, Eqp, Edp, VR, Efd, Rf = x.reshape(7, 3)
        m, e = (lambda n: self.column(self.machine, n)), (lambda n: self.column(self.exciter, n))
        turn = np.exp(1j * (delta - np.pi / 2))
        # unknown currents (Id, Iq): Z I = V and V = E - X I in each rotor's frame
        A = np.zeros((6, 6))
        for k in range(6):
            unit = np.zeros(6)
            unit[k] = 1.0
            Id, Iq = unit[:3], unit[3:]
            Vdq = (Z @ ((Id + 1j * Iq) * turn)) / turn
            A[:, k] = np.concatenate([Vdq.real - m("Xqp") * Iq, Vdq.imag + m("Xdp") * Id])
        Id, Iq = np.linalg.solve(A, np.concatenate([Edp, Eqp])).reshape(2, 3)
        V = np.abs(Z @ ((Id + 1j * Iq) * turn))
        Pe = Edp * Id + Eqp * Iq + (m("Xqp") - m("Xdp")) * Id * Iq
        dVR = (-VR + e("KA") * (Vref - V + Rf - e("KF") / e("TF") * Efd)) / e("TA")
        return np.concatenate([
            120 * np.pi * (omega - 1), (Pm - Pe - m("D") * (omega - 1)) / (2 * m("H")),
            (-Eqp - (m("Xd") - m("Xdp")) * Id + Efd) / m("Td0p"),
            (-Edp + (m("Xq") - m("Xqp")) * Iq) / m("Tq0p"),
            dVR, (VR - (e("KE") + e("Ax") * np.exp(e("Bx") * Efd)) * Efd) / e("TE"),
            (-Rf + e("KF") / e("TF") * Efd) / e("TF")])


def test_fault_study_agrees_with_an_independent_implementation():
    """83 ms on bus 7, line 5-7 lost: no regulator limit is met, so it is smooth between switchings."""
    run = study(0.083, t_end=1.0, step=1e-4)
    assert len(run.events) == 3
    names = [("GEN", n) for n in ("delta", "omega", "Eqp", "Edp")] + [("EXC", n) for n in ("VR", "Efd", "Rf")]
    ours = np.array([run[f"{prefix}{k}", name] for prefix, name in names for k in (1, 2, 3)])
    written = Written()
    V = [run[f"BUS{k}", "Vm"][0] for k in range(1, 10)]
    Pm, Vref = ([run[f"{d}{k}", n][0] for k in (1, 2, 3)] for d, n in (("GEN", "Pm"), ("EXC", "Vref")))
    x = ours[:, 0]
    assert np.abs(written.rates(x, written.reduced(V), Pm, Vref)).max() < 1e-9
    for (t0, t1), state in (((0.1, 0.183), dict(faulted=True)), ((0.183, 1.0), dict(tripped=True))):
        Z = written.reduced(V, **state)
        x = solve_ivp(lambda t, x, Z=Z: written.rates(x, Z, Pm, Vref), (t0, t1), x, method="DOP853",
                      rtol=1e-10, atol=1e-12).y[:, -1]
    assert_allclose(ours[:, -1], x, rtol=0, atol=2e-6)


@pytest.fixture(scope="module")
def paper():
    return gc.simulate(build("wscc9_paper"), t_end=1.0, step=0.01)


def test_paper_case_has_the_solved_load_flow_of_its_data(paper):
    """pnnl/ExaGO, datafiles/case9modsolved_hong_paper.m."""
    Vm = [1.04, 1.025, 1.025, 1.02570288, 0.995522393, 1.01256119, 1.02563256, 1.015759, 1.03225648]
    Va = [0, 9.27974388, 4.66472921, -2.21668125, -3.98984468, -3.68813683, 3.71905785, 0.726257755,
          1.96585425]
    assert_allclose([paper[f"BUS{k}", "Vm"][0] for k in range(1, 10)], Vm, atol=1e-8)
    assert_allclose(np.degrees([paper[f"BUS{k}", "Va"][0] for k in range(1, 10)]), Va, atol=1e-7)
    assert_allclose([paper[g, "Q"][0] for g in MACHINES], [0.27070218, 0.0661201278, -0.108402222], atol=1e-8)


def test_regulators_2_and_3_reach_their_limit_and_leave_it_once(paper):
    """As in the paper: VR2 and VR3 hit the upper limit, VR1 does not, and nothing chatters."""
    found = [(e.device, e.what) for e in paper.events if e.device.startswith("EXC")]
    for exciter in ("EXC2", "EXC3"):
        happened = [what for device, what in found if device == exciter]
        assert happened == ["VR reaches VRMAX", "VR leaves VRMAX"]
    assert len(found) == 4


def test_a_regulator_at_its_limit_is_exactly_there(paper):
    VR, at = paper["EXC3", "VR"], paper["EXC3", "VR_limit"]
    assert VR.max() <= 3.0 + 1e-12
    assert_allclose(VR[at == 1], 3.0, atol=1e-12)
    assert (at == 1).sum() > 5


def test_frequency_of_machine_1_stays_below_the_limit_of_the_paper_and_the_others_do_not(paper):
    """H1 = 0 in table V of Zhang et al. (2017), H2 and H3 positive: 60.5 Hz."""
    highest = [60 * paper[g, "omega"].max() for g in MACHINES]
    assert highest[0] < 60.5 < min(highest[1:])


def test_eigenvalues_with_constant_power_loads_are_the_published_ones():
    """Sauer & Pai (1998), section 8.3 (two-axis machines, IEEE Type 1 exciters), without damping.

    With no damping and no infinite bus two eigenvalues are zero: a double root, which round-off splits.
    """
    case = gc.load_case("wscc9")
    for g in MACHINES:
        case.set(f"{g}.D", 0.0)
    for load in ("LOAD5", "LOAD6", "LOAD8"):
        for name, value in (("pZ", 0.0), ("pP", 1.0), ("qZ", 0.0), ("qP", 1.0)):
            case.set(f"{load}.{name}", value)
    system = gc.build(case)
    J, x = system.jacobian(system.Z0).toarray(), system.differential(system.Z0)
    reduced = J[np.ix_(x, x)] - J[np.ix_(x, ~x)] @ np.linalg.solve(J[np.ix_(~x, ~x)], J[np.ix_(~x, x)])
    found = np.linalg.eigvals(reduced)
    pairs = [-0.7201 + 12.7455j, -0.1907 + 8.3658j, -5.4875 + 7.9487j, -5.3235 + 7.9220j, -5.2218 + 7.8160j,
             -0.4444 + 1.2106j, -0.4394 + 0.7392j, -0.4258 + 0.4959j]
    expected = [*pairs, *np.conj(pairs), -5.1778, -3.3997, -3.2258]
    assert found.size == len(expected) + 2
    distance = np.abs(found[:, None] - np.array(expected))
    assert_allclose(distance.min(axis=0), 0, atol=7.2e-5)  # half a digit in each part
    assert np.abs(np.delete(found, distance.argmin(axis=0))).max() < 1e-3
