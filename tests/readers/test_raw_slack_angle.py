"""A RAW file whose slack stands at another angle is the same system, turned: the same run, the same eigenvalues."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import gridcore as gc
from gridcore.equilibrium import Equilibrium
from gridcore_rotors.rotors import rotors

RAW = (Path(__file__).parents[1] / "data" / "transformer_codes.raw").read_text()
DYR = """\
1 'GENROU' 1  8.0 0.03 0.4 0.05 6.5 0 1.8 1.7 0.3 0.55 0.25 0.06 0.03 0.1 /
3 'GENROU' 1  8.0 0.03 0.4 0.05 6.175 0 1.8 1.7 0.3 0.55 0.25 0.06 0.03 0.1 /
3 'SEXS' 1 0.1 10 200 0.05 0 5 /
3 'TGOV1' 1 0.05 0.49 33 0.4 2.1 7 0 /
"""
AT_ZERO = "1,'SLACK       ', 230.0000,3,   1,   1,   1,1.03000,   0.0000,"
FAULT = gc.BusFault(id="fault", bus=5, t=0.1, clear=0.2, x=0.05)


def built(folder: Path, angle: float) -> Equilibrium:
    """The network with its slack at this angle (degrees), all other angles of the file left at zero."""
    assert AT_ZERO in RAW
    (folder / "x.raw").write_text(RAW.replace(AT_ZERO, AT_ZERO.replace(" 0.0000", f"{angle:.4f}")))
    (folder / "x.dyr").write_text(DYR)
    case = gc.load_case(folder / "x.raw", loads="Z")
    case.add(FAULT)
    return gc.build(case)


@pytest.mark.parametrize("angle", [30.0, -120.0, 175.0])
def test_all_is_the_same_but_for_the_angles_which_are_shifted_by_exactly_that(tmp_path: Path, angle: float) -> None:
    systems = [built(tmp_path, at) for at in (0.0, angle)]
    runs = [gc.simulate(system, 1.0, 0.01) for system in systems]
    plain, turned = runs
    shift = math.radians(angle)
    np.testing.assert_allclose(turned.t, plain.t, rtol=0, atol=1e-12)
    for bus in range(1, 7):
        np.testing.assert_allclose(turned[f"BUS{bus}", "Vm"], plain[f"BUS{bus}", "Vm"], rtol=0, atol=1e-9)
        moved = np.exp(1j * (turned[f"BUS{bus}", "Va"] - plain[f"BUS{bus}", "Va"] - shift))
        np.testing.assert_allclose(moved, 1.0, rtol=0, atol=1e-9)
    for machine in (i.id for i in plain.system.instances if "delta" in i.device.declares.states):
        moved = np.exp(1j * (turned[machine, "delta"] - plain[machine, "delta"] - shift))
        np.testing.assert_allclose(moved, 1.0, rtol=0, atol=1e-9)
        np.testing.assert_allclose(turned[machine, "omega"], plain[machine, "omega"], rtol=0, atol=1e-11)
    np.testing.assert_allclose(rotors(turned).spread, rotors(plain).spread, rtol=0, atol=1e-9)
    modes = [np.sort_complex(np.round(gc.analyses.small_signal(system).eigenvalues, 6)) for system in systems]
    np.testing.assert_allclose(modes[1], modes[0], rtol=0, atol=5e-6)
