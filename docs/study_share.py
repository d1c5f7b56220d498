"""Regenerates study-share.md's tables and figure: ``python docs/study_share.py`` (half an hour)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from pages import BLUE, GREY, ORANGE, draw_parting, fill, markdown, panels, save

import gridcore as gc
from gridcore.equilibrium import Equilibrium
from gridcore_optimisation import Constraint, Optimum
from gridcore_optimisation.critical import Critical

ORDER = ("GEN37", "GEN33", "GEN32", "GEN36", "GEN35")
FORMING = ("GEN32", "GEN35", "GEN37")
GAINS = {"REGFMA1": ("mp", "mq", "kiv"), "REECB1": ("Kqv", "Kqp", "Kqi", "Kvp", "Kvi"), "REPCA1": ("Kp", "Ki")}
T_END, STEP, METHOD = 10.0, 0.01, {"method": "trbdf2"}
FACTOR = 4.0  # how much less or more a gain may become


def case(count: int) -> gc.Case:
    """New England with so many converters in place of machines: rating and dispatch stay."""
    out, rows = gc.load_case("ieee39"), gc.load_case("ieee39_converters")
    fields = {model: rows.of(model)[0].fields for model in ("REGFMA1", "REGCA1", "REECB1", "REPCA1")}
    for name in ORDER[:count]:
        machine = out[name].fields
        kept = {key: machine[key] for key in ("bus", "control", "Sn", "P0", "Q0", "V0", "Qmin", "Qmax")}
        for gone in [id for id in out.ids() if id == name or out[id].fields.get("machine") == name]:
            out.remove(gone)
        if name in FORMING:
            out.add("REGFMA1", **{**fields["REGFMA1"], **kept})
        else:
            out.add("REGCA1", **{**fields["REGCA1"], **kept})
            out.add("REECB1", **{**fields["REECB1"], "converter": name})
            out.add("REPCA1", **{**fields["REPCA1"], "control": f"REEC_{name}"})
    return out


@cache
def system(count: int) -> Equilibrium:
    """With the gains of a first guess."""
    return gc.build(case(count))


def gains(of: Equilibrium) -> list[str]:
    """The gains of its converters."""
    return [f"{i.id}.{name}" for i in of.layout.instances for name in GAINS.get(i.model, ())]


def value(of: Equilibrium, address: str) -> float:
    """Of a parameter."""
    return float(of.Z0[of.layout.address(address)])


def share(count: int) -> float:
    """Part of the active power that converters deliver."""
    power = {i.id: value(system(count), f"{i.id}.P0") for i in system(count).layout.instances if i.id[:3] == "GEN"}
    return sum(power[name] for name in ORDER[:count]) / sum(power.values())


def critical(of: Equilibrium, wrt: Sequence[str] = (), between: tuple[float, float] = (1.1, 1.35),
             tolerance: float = 1e-7) -> Critical:
    """The clearing time of the fault at bus 16."""
    return gc.analyses.critical_value(of, "fault.clear", between=between, t_end=T_END, step=STEP, wrt=wrt,
                                      tolerance=tolerance, simulate=METHOD)


@cache
def clearing(count: int) -> Critical:
    """With derivatives in all gains."""
    return critical(system(count), gains(system(count)))


class Damping:
    """The least damping ratio of all oscillations (%)."""

    names = ["least damping"]

    def value_and_gradient(self, of: Equilibrium, parameters: Sequence[str]) -> tuple[float, np.ndarray]:
        """By eigenvalues, the operating point moving along."""
        modes = gc.analyses.small_signal(of)
        least = min(modes.pairs(), key=lambda k: modes.damping_ratio[k])
        slopes = modes.sensitivities(parameters, [least])["damping_ratio"].values[0] if len(parameters) else np.zeros(0)
        return 100 * modes.damping_ratio[least], 100 * slopes


class Clearing:
    """The critical clearing time (ms), looked for around the last one that was found."""

    names = ["critical clearing"]

    def __init__(self, count: int):
        self.last = clearing(count).value

    def value_and_gradient(self, of: Equilibrium, parameters: Sequence[str]) -> tuple[float, np.ndarray]:
        """By Newton's iteration."""
        for width in (0.02, 0.1):
            try:
                found = critical(of.with_values({"fault.clear": self.last}), parameters,
                                 (self.last - width, self.last + width))
                break
            except gc.CaseError:  # it is farther away
                continue
        self.last = found.value
        return 1e3 * (found.value - value(of, "fault.t")), 1e3 * found.sensitivities.values


class Change:
    """Sum of the squared logarithms of the factors by which gains change."""

    names = ["change"]

    def __init__(self, count: int):
        self.start = system(count)

    def value_and_gradient(self, of: Equilibrium, parameters: Sequence[str]) -> tuple[float, np.ndarray]:
        """A closed form."""
        now, before = (np.array([value(s, name) for name in parameters]) for s in (of, self.start))
        return float(np.sum(np.log(now / before) ** 2)), 2 * np.log(now / before) / now


@cache
def floors() -> tuple[float, float]:
    """Critical clearing time (ms) and least damping (%) of the ten machines."""
    return 1e3 * (clearing(0).value - value(system(0), "fault.t")), Damping().value_and_gradient(system(0), [])[0]


@cache
def restored(count: int) -> Optimum:
    """The least change of gains by which neither is below what it is with machines."""
    time, damping = floors()
    names = gains(system(count))
    bounds = {name: (value(system(count), name) / FACTOR, value(system(count), name) * FACTOR) for name in names}
    return gc.analyses.optimise(system(count), Change(count), names, bounds=bounds, options={"ftol": 1e-8},
                                constraints=[Constraint(Clearing(count), low=time), Constraint(Damping(), low=damping)])


def short(count: int) -> bool:
    """Whether one of the two is below what it is with machines."""
    time, damping = floors()
    return 1e3 * (clearing(count).value - 1.0) < time or Damping().value_and_gradient(system(count), [])[0] < damping


def points() -> str:
    """Both as functions of the share."""
    rows = []
    for count in range(len(ORDER) + 1):
        found, modes = clearing(count), gc.analyses.small_signal(system(count))
        least = min(modes.pairs(), key=lambda k: modes.damping_ratio[k])
        rows.append([", ".join(ORDER[:count]) or "none", f"{100 * share(count):.1f} %",
                     f"{1e3 * (found.value - 1.0):.4f}", "Newton" if found.newton else "halving",
                     str(len(found.attempts)), f"{100 * modes.damping_ratio[least]:.3f} %",
                     f"{modes.frequency[least]:.3f}"])
    return markdown(["converters in place of", "share of power", "critical clearing (ms)", "found by", "simulations",
                     "least damping", "at (Hz)"], rows)


def derivatives(which: str) -> str:
    """Of one of the two, in the gains, at each share: what one percent more of a gain makes."""
    table: dict[str, list[str]] = {}
    counts = range(1, len(ORDER) + 1)
    for count in counts:
        names = gains(system(count))
        slopes = (1e3 * clearing(count).sensitivities.values if which == "clearing"
                  else Damping().value_and_gradient(system(count), names)[1])
        for name, slope in zip(names, slopes, strict=True):
            table.setdefault(name, [""] * (count - 1)).append(f"{0.01 * value(system(count), name) * slope:+.5f}")
    return markdown(["1 % more of", *(f"{100 * share(count):.0f} %" for count in counts)],
                    [[name, *entries] for name, entries in table.items()])


def differences(count: int = 1) -> str:
    """Derivatives of the critical clearing time beside differences of critical times."""
    of = system(count)
    rows = []
    for name, slope in zip(gains(of), clearing(count).sensitivities.values, strict=True):
        at = value(of, name)
        h = 2e-3 * at
        a, b = (critical(of.with_values({name: at + side * h}), (), tolerance=1e-9).value for side in (1, -1))
        rows.append([name, f"{at:g}", f"{1e3 * slope:.5f}", f"{1e3 * (a - b) / (2 * h):.5f}"])
    return markdown(["gain", "at", "derivative (ms per unit)", "by differences"], rows)


def redispatch() -> str:
    """What the optimiser makes of the points that are below."""
    rows = []
    for count in filter(short, range(1, len(ORDER) + 1)):
        found = restored(count)
        before = 1e3 * (clearing(count).value - 1.0), Damping().value_and_gradient(system(count), [])[0]
        time, damping = found.constraints.values
        rows.append([f"{100 * share(count):.1f} %", f"{before[0]:.2f}", f"{time:.2f}", f"{before[1]:.3f} %",
                     f"{damping:.3f} %", "both" if found.success else "not both", f"{found.value:.5f}",
                     f"{found.optimality:.0e}", str(len(found.trials))])
    return markdown(["share of power", "clearing before (ms)", "after", "damping before", "after", "restored", "change",
                     "optimality", "trials"], rows)


def factors() -> str:
    """By which gains change most."""
    rows = []
    for count in filter(short, range(1, len(ORDER) + 1)):
        found = restored(count)
        changed = found.x.values / found.x["start"].values
        order = np.argsort(-np.abs(np.log(changed)))[:4]
        rows.append([f"{100 * share(count):.1f} %",
                     ", ".join(f"{found.x['parameter'].values[k]} by {changed[k]:.3f}" for k in order)])
    return markdown(["share of power", "gains changed most, by a factor of"], rows)


def figure() -> None:
    """Both against the share, before and after; and what parts at the critical time."""
    drawn, axes = panels(1, 3, width=9.0)
    counts = range(len(ORDER) + 1)
    x = [100 * share(count) for count in counts]
    times = [1e3 * (clearing(count).value - 1.0) for count in counts]
    damped = [Damping().value_and_gradient(system(count), [])[0] for count in counts]
    below = list(filter(short, counts))
    for ax, values, place, label in ((axes[0, 0], times, 0, "critical clearing time (ms)"),
                                     (axes[0, 1], damped, 1, "least damping (%)")):
        ax.plot(x, values, "o-", color=BLUE, linewidth=1, markersize=4, label="gains as guessed")
        ax.plot([x[k] for k in below], [restored(k).constraints.values[place] for k in below], "s", color=ORANGE,
                markersize=4, label="gains redispatched")
        ax.axhline(values[0], color=GREY, linewidth=0.8, linestyle="--")
        ax.set_xlabel("share of converters (% of power)")
        ax.set_ylabel(label)
    axes[0, 0].legend(frameon=False, fontsize=7)
    at = clearing(1).value
    sides = ((-1e-3, BLUE), (-1e-5, BLUE), (1e-5, ORANGE), (1e-3, ORANGE))
    draw_parting(axes[0, 2], "one converter, 1 ms, 10 µs to either side", (
        (gc.simulate(system(1).with_values({"fault.clear": at + offset}), T_END, STEP, **METHOD), colour)
        for offset, colour in sides))
    save(drawn, "study_share.png")


def main() -> None:
    """Tables and figure."""
    fill("study-share.md", {"points": points(), "clearing": derivatives("clearing"), "damping": derivatives("damping"),
                            "differences": differences(), "redispatch": redispatch(), "factors": factors()})
    figure()


if __name__ == "__main__":
    main()
