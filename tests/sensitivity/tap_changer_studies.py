"""Studies of tap changers: a feeder whose load recovers behind its transformer."""

from __future__ import annotations

from typing import Any

from industry_studies import study
from scenes import case_of, record
from studies import Study

import gridcore as gc

TAPS = "OLTC_TRANSFORMER2-3"
SEEN = [("BUS3", "Vm"), ("LOAD3", "P"), (TAPS, "tap"), ("TRANSFORMER2-3", "Q1")]
ADDRESSES = [*(f"{TAPS}.{name}" for name in ("VMI", "VMA", "step", "RMI", "TD", "TC", "TSD")), "trip.t", "second.x",
             "TRANSFORMER2-3.tap", "TRANSFORMER2-3.x", *(f"LOAD3.{name}" for name in ("P0", "Q0", "Tp", "alpha_t"))]


def feeder(*events: Any, model: str = "TapChanger", **values: float) -> gc.Case:
    """A source, two lines, a transformer, and a load that recovers to constant power."""
    delays = {"TD": 1.50185, "TC": 0.02565, "TSD": 0.25595}
    return case_of(
        *(record("Bus", id=n) for n in (1, 2, 3)), record("InfiniteBus", bus=1, control="slack", V0=1.05),
        record("Line", bus1=1, bus2=2, x=0.2), record("Line", id="second", bus1=1, bus2=2, x=0.2),
        record("Transformer", bus1=2, bus2=3, x=0.08, tap=0.98),
        record("ExponentialRecovery", bus=3, P0=0.9, Q0=0.3, alpha_s=0.0, alpha_t=2.0, beta_s=0.0, beta_t=2.0,
               Tp=3.0, Tq=3.0),
        record(model, transformer="TRANSFORMER2-3", bus=3, **{"VMI": 0.98, "VMA": 1.02} | delays | values),
        *events)


@study
def tap_changer_after_a_trip_and_a_reclosure() -> Study:
    """The voltage jumps out of its band, is stepped back, and is too high once the line is there again."""
    case = feeder(gc.BranchTrip(id="trip", branch="second", t=0.213, reclose=4.117), model="OLTC1T", VMI=0.975)
    return Study(case, 7.0, 0.1, [*ADDRESSES, "trip.reclose"], SEEN, [
        f"{TAPS}.low:delay started", f"{TAPS}.low", f"{TAPS}.raises:delay started", f"{TAPS}.raises",
        f"{TAPS}.still_low:delay started", f"{TAPS}.still_low", f"{TAPS}.raises", f"{TAPS}.no_longer_low",
        f"{TAPS}.high:delay started", f"{TAPS}.high", f"{TAPS}.lowers", f"{TAPS}.still_high", f"{TAPS}.lowers",
        f"{TAPS}.no_longer_high"])


@study
def tap_changer_whose_load_drifts_out_of_the_band() -> Study:
    """A guard is crossed between switches, so that the band moves the steps; the range ends after two of them."""
    case = feeder(gc.BranchTrip(id="trip", branch="second", t=0.213), VMI=0.955, VMA=1.05, step=0.001,
                  RMI=0.978)
    return Study(case, 6.0, 0.1, ADDRESSES, SEEN, [
        f"{TAPS}.low:delay started", f"{TAPS}.low", f"{TAPS}.raises", f"{TAPS}.still_low", f"{TAPS}.raises"], theta=0.6)


@study
def tap_changer_whose_voltage_comes_back_by_itself() -> Study:
    """A load that draws less after a while brings it back before a second step; the next delay is again the first."""
    case = feeder(gc.BranchTrip(id="trip", branch="second", t=0.213), gc.ParameterStep(
        id="more", parameter="LOAD3.P0", t=4.017, by=0.1), model="OLTC3T", VMI=0.955, step=0.001, TD=1.0, TSD=3.0)
    for name, value in {"alpha_t": 0.0, "beta_t": 0.0, "alpha_s": 2.0, "beta_s": 2.0}.items():
        case.set(f"LOAD3.{name}", value)
    return Study(case, 7.0, 0.1, [*ADDRESSES, "more.by"], SEEN, [
        f"{TAPS}.low", f"{TAPS}.raises", f"{TAPS}.still_low:delay started", f"{TAPS}.no_longer_low", "more.steps",
        f"{TAPS}.low:delay started", f"{TAPS}.low", f"{TAPS}.raises"])
