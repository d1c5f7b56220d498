"""Regenerates reference-d.md's tables and figures: ``python docs/reference_d.py`` (a minute).

``--coverage 200`` makes the table of repetitions with noise anew, too (some ten minutes).
"""

from __future__ import annotations

import argparse
import functools
from dataclasses import dataclass, field, replace

import numpy as np
from pages import BLUE, GREEN, GREY, ORANGE, fill, markdown, panels, save

import gridcore as gc
from gridcore.equilibrium import Equilibrium
from gridcore.sensitivity import Sampling
from gridcore_estimation import Measurements, Recording

# Coarse while nothing happens: the system rests until 28 s, and a theta step of a system at rest is exact.
GRID = [(0.0, 0.5), (27.5, 0.01)]
TOLERANCE = 1e-5
PRINTED = ("4.1", "4.2", "4.3")
NOISE = 0.01
LEVELS = (0.5, 0.9, 0.95)
SEED = 20
SEEN = 2.5  # seconds of the window in the figure


@dataclass
class Study:
    """One estimation: fabricated data, and what is to be found in them.

    Parameters
    ----------
    title : str
    cases : list of (case, truth)
        The recordings; `truth` are values that differ from the case's.
    channels : tuple of str
    window : (float, float)
        First and last sample (s); ten a second.
    start, printed : dict
        By parameter; `printed` is as the study prints it, with our sign.
    iterations : int
        The study's.
    """

    title: str
    cases: list[tuple[str, dict[str, float]]]
    channels: tuple[str, ...]
    window: tuple[float, float]
    start: dict[str, float]
    printed: dict[str, str] = field(default_factory=dict)
    iterations: int = 0

    @property
    def wrt(self) -> list[str]:
        """The parameters."""
        return list(self.start)

    @functools.cached_property
    def systems(self) -> list[Equilibrium]:
        """With the true values."""
        return [gc.build(case).with_values(truth) if truth else gc.build(case) for case, truth in self.cases]

    @property
    def truth(self) -> np.ndarray:
        """(parameters,) what the data were made with."""
        return np.array([self.systems[0].Z0[self.systems[0].layout.address(name)] for name in self.wrt])

    @functools.cached_property
    def exact(self) -> list[Measurements]:
        """The data without noise."""
        first, last = (round(10 * end) for end in self.window)
        times = np.arange(first, last + 1) / 10
        runs = [gc.simulate(system, times[-1], GRID) for system in self.systems]
        return [Measurements.of(times, {name: Sampling.of(run, times).values(run[tuple(name.rsplit(".", 1))])
                                        for name in self.channels}) for run in runs]

    @functools.cached_property
    def response(self) -> list[dict[str, float]]:
        """Of each channel the largest change from before the event."""
        return [self._response(system, data) for system, data in zip(self.systems, self.exact, strict=True)]

    def _response(self, system: Equilibrium, data: Measurements) -> dict[str, float]:
        rest = gc.simulate(system, 0.1, 0.1)
        return {name: float(np.abs(data.only(name).value - rest[tuple(name.rsplit(".", 1))][0]).max())
                for name in self.channels}

    def data(self, noise: float = 0.0, seed: int = 0) -> list[Measurements]:
        """With Gaussian noise, its standard deviation a part of the response; weighted by its inverse square."""
        random = np.random.default_rng(seed)
        out = []
        for data, response in zip(self.exact, self.response, strict=True):
            size = np.array([response[str(name)] for name in data.channel])
            value = data.value + noise * size * random.standard_normal(len(data))
            out.append(replace(data, value=value, weight=1 / size**2))
        return out

    def fit(self, noise: float = 0.0, seed: int = 0, method: str = "gauss-newton"):
        """Estimate from the study's start."""
        recordings = [Recording(system, data, GRID) for system, data in
                      zip(self.systems, self.data(noise, seed), strict=True)]
        return gc.analyses.estimate(recordings, wrt=self.wrt, start=self.start, method=method, tolerance=TOLERANCE)


def studies() -> dict[str, Study]:
    """The three of the paper, and one of a threshold and a delay."""
    trip, step = "wscc9_recovery_loads", "wscc9_estimation_step"
    return {
        "4.1": Study("4.1: susceptance of line 1-4, tripped by its relay", [(trip, {"LINE14.b": -17.3604})],
                     ("BUS6.Vm",), (30.5, 40.0), {"LINE14.b": -12.0}, {"LINE14.b": "-17.3604"}, 5),
        "4.2": Study("4.2: transient exponent of load 3", [(step, {})], ("BUS6.Vm",), (30.2, 31.4),
                     {"LOAD8.alpha_t": 20.0}, {"LOAD8.alpha_t": "1.796"}, 2),
        "4.3": Study("4.3: power of load 1 after the event", [(step, {})], ("BUS6.Vm",), (30.2, 31.4),
                     {"drop.by": 1.2527}, {"drop.by": "1.1275"}, 2),
        "relay": Study("threshold and delay of the relay, from two events",
                       [(trip, {"RELAY14.delay": 0.25, "up.scale": scale}) for scale in (1.35, 1.7)],
                       ("BUS6.Vm", "GEN2.omega"), (31.0, 36.0), {"RELAY14.threshold": 0.8, "RELAY14.delay": 0.1})}


def cancelled() -> Study:
    """Study 4.1 with a relay so slow that the overload is over before it acts."""
    return replace(studies()["4.1"], cases=[("wscc9_recovery_cancelled", {"LINE14.b": -17.3604})], iterations=0)


def digits(value: float, printed: str) -> str:
    """A value with as many decimals as are printed."""
    return f"{value:.{len(printed.partition('.')[2])}f}"


def estimations(found: dict[str, Study]) -> str:
    """The table of the study, and ours."""
    rows = []
    for name, study in {**{name: found[name] for name in PRINTED}, "4.1, cancelled": cancelled()}.items():
        fit = study.fit()
        parameter, printed = next(iter(study.printed.items()))
        rows.append([name, parameter, f"{study.start[parameter]:g}", printed, digits(fit[parameter], printed),
                     f"{fit[parameter] - study.truth[0]:.1e}", str(study.iterations or ""), str(fit.iterations)])
    return markdown(["study", "parameter", "start", "printed", "found", "found less truth", "iterations, printed",
                     "iterations"], rows)


def windows() -> str:
    """Study 4.2 with other ends of its window."""
    rows = []
    for end in (30.8, 31.0, 31.2, 31.4, 31.6, 32.0, 35.0, 40.0):
        fit = replace(studies()["4.2"], window=(30.2, end)).fit()
        path = [f"{iterate.x[0]:.4f}" for iterate in fit.iterates[1:5]]
        rows.append([f"{end:g} s", *path, *[""] * (4 - len(path)), str(fit.iterations)])
    return markdown(["last sample", "after 1", "after 2", "after 3", "after 4", "iterations"], rows)


def with_noise(found: dict[str, Study]) -> str:
    """One estimation each, with noise."""
    rows = []
    for name, study in found.items():
        fit = study.fit(NOISE, SEED)
        for parameter, value, error, (low, high), true in zip(fit.names, fit.values, fit.standard_errors,
                                                             fit.intervals(), study.truth, strict=True):
            white = min(w.p_value for w in fit.whiteness.values())
            rows.append([name, parameter, f"{true:.6g}", f"{value:.6g}", f"{error:.2g}", f"{low:.6g} to {high:.6g}",
                         f"{white:.2f}", str(fit.iterations)])
    return markdown(["study", "parameter", "truth", "found", "standard error", "95 % interval", "Ljung-Box p",
                     "iterations"], rows)


@dataclass
class Repetitions:
    """What many estimations with noise gave, parameter by parameter.

    Attributes
    ----------
    inside : (levels, parameters) int array
        How often the interval has the truth.
    z : (repetitions, parameters) array
        Error over standard error.
    failed : int
    """

    inside: np.ndarray
    z: np.ndarray
    failed: int


def repeat(study: Study, count: int, noise: float = NOISE, method: str = "gauss-newton") -> Repetitions:
    """Estimations from the study's start with noise of different seeds."""
    inside, z, failed = np.zeros((len(LEVELS), len(study.wrt)), dtype=int), [], 0
    for seed in range(count):
        try:
            fit = study.fit(noise, 1000 + seed, method)
        except gc.GridcoreError:
            failed += 1
            continue
        z.append((fit.values - study.truth) / fit.standard_errors)
        for k, level in enumerate(LEVELS):
            low, high = fit.intervals(level).T
            inside[k] += (low <= study.truth) & (study.truth <= high)
    return Repetitions(inside, np.array(z), failed)


def coverage(found: dict[str, Study], count: int) -> str:
    """How often the intervals have the truth."""
    rows = []
    for name, study in found.items():
        made = repeat(study, count)
        rows += [[name, parameter, *(f"{inside[j]} ({inside[j] / count:.1%})" for inside in made.inside),
                  f"{made.z[:, j].std(ddof=1):.2f}", str(made.failed)] for j, parameter in enumerate(study.wrt)]
    return markdown(["study", "parameter", *(f"in {level:.0%} interval, of {count}" for level in LEVELS),
                     "std of error / standard error", "failed"], rows)


def of_the_voltage(found: dict[str, Study], count: int) -> str:
    """The same where the noise is a part of the voltage itself; of study 4.2 the standard error alone."""
    rows = []
    for name in PRINTED:
        study = found[name]
        response = study.response[0]["BUS6.Vm"]
        noise = NOISE * float(study.exact[0].value.mean()) / response
        error = noise / float(np.linalg.norm(study.fit().jacobian))
        row = [name, study.wrt[0], f"{study.truth[0]:.6g}", f"{error:.2g}"]
        if name == "4.2":
            rows.append([*row, "", ""])
            continue
        made = repeat(study, count, noise)
        inside = int(made.inside[-1, 0])
        rows.append([*row, f"{inside} ({inside / count:.0%})", f"{made.z[:, 0].std(ddof=1):.2f}"])
    return markdown(["study", "parameter", "truth", "standard error", f"in 95 % interval, of {count}",
                     "std of error / standard error"], rows)


def draw(found: dict[str, Study]) -> None:
    """The measured voltage and its simulation at each iterate; the parameter by iteration."""
    figure, axes = panels(3, 2, width=8.0, height=2.5)
    for (left, right), name in zip(axes, PRINTED, strict=True):
        study = found[name]
        fit, data = study.fit(), study.exact[0]
        colours = [GREY, GREEN, BLUE, ORANGE, "#CC79A7", "#000000"]
        for number, iterate in enumerate(fit.iterates):
            run = fit.problem.trial(iterate.x).runs[0]
            seen = (run.t >= study.window[0] - 0.7) & (run.t <= study.window[0] + SEEN)
            left.plot(run.t[seen], run["BUS6", "Vm"][seen], color=colours[number], linewidth=1,
                      label=f"iteration {number}")
        shown = data.between(study.window[0], study.window[0] + SEEN)
        left.plot(shown.time, shown.value, ".", color="black", markersize=3, label="measured")
        left.set_ylabel("voltage at bus 6 (pu)")
        left.set_title(study.title, fontsize=9, loc="left")
        left.legend(frameon=False, fontsize=6.5, ncols=2)
        path = [iterate.x[0] for iterate in fit.iterates]
        right.axhline(study.truth[0], color=GREY, linewidth=1)
        right.plot(path, "o-", color=BLUE)
        right.set_ylabel(study.wrt[0])
        right.xaxis.get_major_locator().set_params(integer=True)
    axes[-1, 0].set_xlabel("time (s)")
    axes[-1, 1].set_xlabel("iteration of Gauss-Newton")
    save(figure, "reference_d_convergence.png")


def main() -> None:
    """Tables and figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--coverage", type=int, default=0, metavar="REPETITIONS")
    count = parser.parse_args().coverage
    found = studies()
    tables = {"estimations": estimations(found), "windows": windows(), "noise": with_noise(found)}
    if count:
        tables |= {"coverage": coverage(found, count), "of the voltage": of_the_voltage(found, count // 2)}
    fill("reference-d.md", tables)
    draw(found)


if __name__ == "__main__":
    main()
