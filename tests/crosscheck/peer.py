"""Runs ANDES, in ANDES's own Python, as a request in a file says; writes what came of it. Knows nothing of gridcore.

``python peer.py REQUEST.json RESULT.npz``. The request::

    files        paths of a RAW file and of a DYR file
    faults       [{"bus", "t", "clear", "x"}]
    trips        [{"bus1", "bus2", "nth", "t"}], nth of the parallel lines, in the order of the RAW file
    runs         [{"step", "tolerance", "t_end", "count"}], each from the start; count: iterations, by a second run
    eigenvalues  whether they are wanted
    quantities   {model: [names of its variables]}, of the models that there are, at t0 and along every run
    settings     values of ANDES's own options, {"PQ.p2z": 1}

All loads are of constant impedance in ANDES unless its option says otherwise. What is written::

    machines, buses       (machine: its bus and its identifier)
    v0, a0                the solution of the power flow
    <k>_t, <k>_delta, <k>_omega, <k>_v, <k>_a     of run k
    start_<model>_<name>, <k>_<model>_<name>      quantities asked for
    of_<model>            the machines that its devices are, or belong to
    fx, fy, gx, gy, Tf    Jacobians at the operating point, as (row, column, value), and time constants
    mu                    ANDES's own eigenvalues
    times                 JSON: CPU and wall seconds by stage, and of each run; steps and iterations
"""

from __future__ import annotations

import json
import sys
import time

CLOCKS = {"cpu": time.process_time, "wall": time.perf_counter}


def now() -> dict[str, float]:
    """Seconds on all clocks."""
    return {name: clock() for name, clock in CLOCKS.items()}


def since(began: dict[str, float]) -> dict[str, float]:
    """Seconds that went by."""
    return {name: value - began[name] for name, value in now().items()}


BEGAN = now()

import andes  # noqa: E402
import numpy as np  # noqa: E402

IMPORTED = since(BEGAN)


def load(request: dict, timings: dict | None = None):
    """A system with its disturbances, at its operating point."""
    timings = {} if timings is None else timings
    began = now()
    raw, dyr = request["files"]
    system = andes.load(raw, addfile=dyr, setup=False, no_output=True, default_config=True,
                        config_option=[f"{key}={value}" for key, value in request.get("settings", {}).items()])
    # a machine takes its frequency from its own record, which a DYR file has not; the RAW file says it
    for machine in (system.GENROU, system.GENCLS):
        machine.fn.v = [system.config.freq] * machine.n
    for fault in request.get("faults", ()):
        system.add("Fault", bus=fault["bus"], tf=fault["t"], tc=fault["clear"], xf=fault["x"], rf=0.0)
    for trip in request.get("trips", ()):
        system.add("Toggle", model="Line", dev=line(system, **trip), t=trip["t"])
    system.setup()
    timings["load"] = since(began)
    began = now()
    system.PFlow.config.tol = 1e-10
    if not system.PFlow.run():
        raise SystemExit("ANDES: the power flow does not converge")
    timings["power flow"] = since(began)
    return system


def line(system, bus1: int, bus2: int, nth: int, t: float) -> str:
    """ANDES's name of a line."""
    found = [idx for idx, *ends in zip(system.Line.idx.v, system.Line.bus1.v, system.Line.bus2.v, strict=True)
             if set(ends) == {bus1, bus2}]
    return found[nth - 1]


def start(system, step: float, tolerance: float, t_end: float) -> None:
    """Ready to simulate with the trapezoidal rule at a fixed step."""
    config = system.TDS.config
    config.method, config.fixt, config.shrinkt, config.criteria, config.no_tqdm = "trapezoid", 1, 0, 0, 1
    config.tstep, config.tol, config.tf = step, tolerance, t_end
    system.TDS.init()
    if not system.TDS.test_ok:
        raise SystemExit("ANDES: the initial values are no equilibrium")


def simulate(request: dict, asked: dict) -> tuple[dict, dict]:
    """Trajectories of a run, its times and steps."""
    system = load(request)
    start(system, asked["step"], asked["tolerance"], asked["t_end"])
    began = now()
    done = system.TDS.run(no_summary=True)
    taken = since(began)
    if not done:
        raise SystemExit(f"ANDES: stopped at {system.dae.t:g} s")
    series = trajectories(system)
    for model, name, variable in quantities(system, request):
        values = system.dae.ts.x if variable.v_code == "x" else system.dae.ts.y
        series[f"{model}_{name}"] = np.asarray(values)[:, variable.a]
    return series, taken | {"steps": len(system.dae.ts.t) - 1}


def iterations(request: dict, asked: dict) -> int:
    """Newton iterations of a run; counting them costs time, so that is a run of its own."""
    system = load(request)
    system.runtime.save_stats = 1
    start(system, asked["step"], asked["tolerance"], asked["t_end"])
    system.TDS.run(no_summary=True)
    return int(sum(count for _, count, _ in system.TDS.call_stats))


def machines(system) -> list:
    """The machine models in use."""
    return [model for model in (system.GENROU, system.GENCLS) if model.n]


def names(system) -> dict[str, list[str]]:
    """(bus, identifier) of every machine."""
    return {idx: [str(bus), str(identifier).strip(" '\"")] for model in machines(system)
            for idx, bus, identifier in zip(model.idx.v, model.bus.v, model.subidx.v, strict=True)}


def quantities(system, request: dict):
    """(model, name, variable) of what is asked for."""
    for model, wanted in request.get("quantities", {}).items():
        for name in wanted if getattr(system, model).n else ():
            yield model, name, getattr(getattr(system, model), name)


def operating_point(system, request: dict) -> dict:
    """Quantities asked for, at the operating point, and whose they are."""
    start(system, 0.01, 1e-8, 1.0)
    of, out = names(system), {}
    for model, name, variable in quantities(system, request):
        devices = getattr(system, model)
        owners = devices.syn if hasattr(devices, "syn") else devices.idx
        out[f"of_{model}"] = np.array([of[idx] for idx in owners.v])
        out[f"start_{model}_{name}"] = np.array(variable.v)
    return out


def trajectories(system) -> dict:
    """Angles and speeds of machines, voltages of buses."""
    series = system.dae.ts
    x, y = np.asarray(series.x), np.asarray(series.y)
    delta = np.concatenate([model.delta.a for model in machines(system)])
    omega = np.concatenate([model.omega.a for model in machines(system)])
    return {"t": np.asarray(series.t), "delta": x[:, delta], "omega": x[:, omega],
            "v": y[:, system.Bus.v.a], "a": y[:, system.Bus.a.a]}


def linearisation(system) -> dict:
    """Jacobians of the DAE at its operating point, and ANDES's eigenvalues."""
    system.EIG.run()
    out = {"mu": np.asarray(system.EIG.mu).ravel(), "Tf": np.asarray(system.dae.Tf)}
    for name in ("fx", "fy", "gx", "gy"):
        matrix = getattr(system.dae, name)
        out[name] = np.array([np.asarray(part).ravel() for part in (matrix.I, matrix.J, matrix.V)])
        out[f"{name}_shape"] = np.array(matrix.size)
    return out


def main(request_file: str, result_file: str) -> None:
    """Do what the request says."""
    andes.config_logger(40)
    with open(request_file) as file:
        request = json.load(file)
    timings: dict = {"import": IMPORTED}
    system = load(request, timings)
    out = {"machines": np.array(list(names(system).values())), "buses": np.array(system.Bus.idx.v),
           "v0": np.array(system.Bus.v.v), "a0": np.array(system.Bus.a.v)}
    out |= operating_point(system, request)
    if request.get("eigenvalues"):
        out |= linearisation(system)
    timings["runs"] = []
    for k, asked in enumerate(request.get("runs", ())):
        series, taken = simulate(request, asked)
        if asked.get("count"):
            taken["iterations"] = iterations(request, asked)
        out |= {f"{k}_{name}": value for name, value in series.items()}
        timings["runs"].append(taken)
    timings["process"] = {"cpu": time.process_time(), "wall": since(BEGAN)["wall"]}
    np.savez(result_file, times=json.dumps(timings), **out)


if __name__ == "__main__":
    main(*sys.argv[1:])
