"""Without these libraries there is a sentence that says what would help."""

import sys

import pytest

import gridcore as gc
from gridcore.errors import GridcoreError


@pytest.mark.parametrize(("name", "called"), [("torch", "PyTorch"), ("jax", "JAX")])
def test_a_library_that_is_missing_is_named(name, called, monkeypatch):
    monkeypatch.setitem(sys.modules, name, None)
    objective = gc.Terminal(lambda v: v["GEN2", "omega"])
    with pytest.raises(GridcoreError, match=f"{called} is not installed: pip install {name}"):
        getattr(gc, name)("wscc9", objective, "GEN2.H", t_end=0.1)
