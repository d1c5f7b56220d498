import subprocess
import sys

import pytest

from gridcore.equations.native.compiler import compiler_path

pytest.importorskip("nbklu")


@pytest.mark.skipif(compiler_path() is None, reason="interpreted loops take scipy's matrices")
def test_scipys_matrices_are_loaded_when_one_is_asked_for_and_by_no_run(tmp_path):
    code = ("import sys, gridcore as gc\nrun = gc.simulate('wscc9', t_end=0.3)\n"
            f"run.save({str(tmp_path / 'x.nc')!r})\nassert 'scipy.sparse' not in sys.modules\n"
            "run.system.jacobian(run.system.Z0)\nassert 'scipy.sparse' in sys.modules")
    subprocess.run([sys.executable, "-c", code], check=True)
