"""Reference E, small-signal analysis of PowerSimulationsDynamics.jl: the tables of the page."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from pages import fill, markdown

import gridcore as gc
from gridcore.case import Case
from gridcore.contract import Record

# Of the package's own tests, test/results/results_eigenvalues.jl at commit 0778917: one machine at an infinite bus.
THEIRS = -0.15883100381194412 + 13.264252860693972j
PSAT = -0.15883 + 13.2643j

# Reactance (pu) behind which the package puts its ideal source.
SOURCE_REACTANCE = 5e-6


def case(source_reactance: float = 0.0) -> Case:
    """Test case 1: classical machine, two circuits, an ideal source, possibly behind a reactance.

    Figures of test/benchmarks/psse/Test01/OMIB.raw and test/data_tests/dynamic_test_data.jl (BSD-3).
    """
    made = Case("omib", base_mva=100, frequency=60)
    made.title = "Classical machine at an infinite bus: test case 1 of PowerSimulationsDynamics.jl"
    for number in (101, 102):
        made.add(Record("Bus", {"id": number, "kv": 230}))
    for circuit in (1, 2):
        made.add(Record("Line", {"id": f"CCT{circuit}", "bus1": 101, "bus2": 102, "x": 0.1}))
    made.add(Record("Classical", {"id": "GEN", "bus": 102, "control": "PV", "P0": 0.5, "V0": 1.04, "Xdp": 0.2995,
                                  "H": 3.148, "D": 2.0}))
    if not source_reactance:
        made.add(Record("InfiniteBus", {"id": "SOURCE", "bus": 101, "control": "slack", "V0": 1.05}))
        return made
    drawn = complex(0.5, -0.21572)  # at bus 101, in the file's solution
    inside = 1.05 - 1j * source_reactance * np.conj(drawn / 1.05)
    made.add(Record("Bus", {"id": 100, "kv": 230}))
    made.add(Record("Line", {"id": "INSIDE", "bus1": 100, "bus2": 101, "x": source_reactance}))
    made.add(Record("InfiniteBus", {"id": "SOURCE", "bus": 100, "control": "slack", "V0": float(abs(inside))}))
    return made


@functools.cache
def system(source_reactance: float = 0.0) -> Any:
    """The same, at its operating point."""
    return gc.build(case(source_reactance))


def eigenvalue(source_reactance: float = 0.0) -> complex:
    """The eigenvalue with the positive imaginary part."""
    return complex(gc.analyses.small_signal(system(source_reactance)).eigenvalues[0])


def eigenvalues() -> str:
    """Theirs and ours."""
    def row(name: str, value: complex, digits: int = 12) -> list[str]:
        return [name, f"{value.real:.{digits}f}", f"{value.imag:.{digits}f}"]

    return markdown(["", "real part", "imaginary part"], [
        row("PSAT, as printed in the package's tests", PSAT, 5),
        row("gridcore, ideal source at the bus", eigenvalue()),
        row("PowerSimulationsDynamics.jl", THEIRS),
        row("gridcore, source behind its reactance of 5e-6 pu", eigenvalue(SOURCE_REACTANCE))])


def forms() -> dict[str, float]:
    """The four forms on the 9-bus system, dense and sparse: largest difference from central differences of F."""
    nine = gc.build("wscc9")
    n, Z = nine.n, nine.Z0
    columns = []
    for k in range(n):
        h, up, down = 1e-6 * (1 + abs(Z[k])), Z.copy(), Z.copy()
        up[k], down[k] = Z[k] + h, Z[k] - h
        columns.append((nine.rhs(up) - nine.rhs(down)) / (up[k] - down[k]))
    F_X, M = np.array(columns).T, np.diag(nine.differential(Z).astype(float))
    out = {}
    for sparse in (False, True):
        jacobian = gc.analyses.linearise(nine, sparse=sparse).jacobian
        x, p, gamma = Z[:n], jacobian.p, 100.0
        J = jacobian(x)
        made = [("jacobian(x)", J.copy(), F_X), ("jacobian(J, x)", jacobian(J, x).copy(), F_X),
                ("jacobian(J, x, p, t)", jacobian(J, x, p, 0.0).copy(), F_X),
                ("jacobian(J, dx, x, p, gamma, t)", jacobian(J, 0 * x, x, p, gamma, 0.0), gamma * M - F_X)]
        for form, found, true in made:
            off = np.abs((found.toarray() if sparse else found) - true).max() / np.abs(true).max()
            out[form] = max(out.get(form, 0.0), float(off))
    return out


def agreement() -> str:
    """The four forms in a table."""
    return markdown(["form", "largest difference, relative"], [[f"`{f}`", f"{e:.0e}"] for f, e in forms().items()])


def main() -> None:
    """All tables into the page."""
    fill("reference-e.md", {"eigenvalues": eigenvalues(), "forms": agreement()})


if __name__ == "__main__":
    main()
