"""Declarations say themselves: help of a device has its parameters with units."""

from __future__ import annotations

import pydoc

import pytest

import gridcore as gc
from gridcore.errors import DeviceError
from gridcore.registry import devices


def test_a_declaration_shows_what_it_was_given():
    assert repr(gc.Param("s", 0.1, gt=0, doc="lag")) == "Param(unit='s', default=0.1, doc='lag', bounds={'gt': 0})"
    assert repr(gc.Param("pu", doc="gain")) == "Param(unit='pu', default=required, doc='gain')"
    assert repr(gc.Setpoint("pu", equals=lambda s: s.x)) == "Setpoint(unit='pu', init=0.0)"


@pytest.mark.parametrize("name", sorted(devices))
def test_help_of_a_device_has_its_parameters_with_units(name):
    cls = devices[name]
    told = pydoc.render_doc(cls, renderer=pydoc.plaintext)
    for key, declared in {**cls.declares.params, **cls.declares.states}.items():
        if isinstance(vars(cls).get(key), type(declared)):  # and not of a block
            unit = f"unit={declared.unit!r}" if declared.unit else ""
            assert f" {key} = {type(declared).__name__}({unit}" in told, key


def test_what_is_plausible_is_a_mapping():
    with pytest.raises(DeviceError, match=r"^Odd\.plausible must be a mapping, such as \{'H': \(0\.1, 20\.0\)\}$"):
        type("Odd", (gc.Device,), {"plausible": lambda s: {}})
