"""``gridcore new-device``: a plugin with a device, to begin from; its tests pass as it stands."""

from __future__ import annotations

import keyword
import re
from pathlib import Path
from string import Template

import click

from gridcore.errors import GridcoreError
from gridcore.registry import devices

FILES = {
    "pyproject.toml": '''\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "$distribution"
version = "0.1.0"
description = "$name, a device for gridcore"
requires-python = ">=3.11"
dependencies = ["gridcore>=0.1"]

[project.optional-dependencies]
test = ["pytest>=8"]

[project.entry-points.gridcore]
$module = "$package"

[tool.setuptools]
packages = ["$package"]
''',
    "$package/__init__.py": '''\
"""What gridcore finds: the entry point ``$module`` of pyproject.toml names this module."""

from gridcore import hookimpl


@hookimpl
def register_devices(register):
    register("$package.$module:$name")
''',
    "$package/$module.py": '''\
"""$name: what it is, in a line."""

from gridcore import Load, Param, Setpoint, State, quantity


class $name(Load):
    """A load that answers the voltage with a delay: what it is, and where its equations are from.

    ``T dx/dt = Vm - x``; it draws ``P0 (x / V0)^a`` and ``Q0 (x / V0)^a``;
    Kundur (1994), eqs. 7.1 and 7.2, behind a lag.
    """

    a = Param("", 2.0, ge=0, doc="exponent of the power drawn")
    T = Param("s", 0.1, gt=0, doc="time constant of its answer")
    V0 = Setpoint("pu", init=1.0, equals=lambda s, bus: bus.Vm, doc="voltage at t0")
    x = State("pu", init=1.0, T="T", doc="voltage that it answers")

    def rates(s, bus):
        return (bus.Vm - s.x,)

    @quantity("pu", "active power drawn, system base")
    def P(s):
        return s.k * s.P0 * (s.x / s.V0) ** s.a

    @quantity("pu", "reactive power drawn, system base")
    def Q(s):
        return s.k * s.Q0 * (s.x / s.V0) ** s.a

    def currents(s, bus):
        return -(s.P * bus.Vr + s.Q * bus.Vi) / bus.V2, -(s.P * bus.Vi - s.Q * bus.Vr) / bus.V2
''',
    "tests/test_$module.py": '''\
"""$name is found where it is installed, is what a device should be, and does what its equations say."""

import pytest
from $package.$module import $name

import gridcore as gc
from gridcore.registry import devices
from gridcore.testing import device_checks


def test_gridcore_finds_it_by_its_entry_point():
    assert devices["$name"] is $name


@device_checks($name)
def test_it_is_what_a_device_should_be(check):
    check()


@pytest.fixture
def run():
    case = gc.load_case("wscc9")
    case.add("$name", id="NEW", bus=8, P0=0.1, Q0=0.02)
    return gc.simulate(gc.build(case), t_end=0.5)


def test_at_the_operating_point_it_draws_its_power(run):
    assert run["NEW.P"][0] == pytest.approx(0.1, rel=1e-12)


def test_its_derivatives_are_those_of_the_run(run):
    energy = gc.Integral(lambda v: v["NEW", "P"])
    wrt = ["NEW.a", "NEW.T"]
    assert gc.adjoint(run, energy, wrt).values == pytest.approx(gc.differences(run, energy, wrt).values, rel=1e-5)
''',
    "README.md": '''\
# $name

A device for [gridcore](https://pypi.org/project/gridcore).

    pip install -e '.[test]'
    gridcore describe $name
    gridcore doctor $name
    python -m pytest
'''}


@click.command("new-device")
@click.argument("name", metavar="NAME")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), default=".", help="Folder for its folder.")
def new_device(name: str, out: Path) -> None:
    """Make a plugin with a device of that name: a folder with pyproject.toml, the class and its tests.

    NAME is that of a class, such as HeatPump. What it has is a load with one state, to be changed.
    """
    from gridcore.results import whole_file

    if not name.isidentifier() or keyword.iskeyword(name) or not name[0].isupper():
        raise click.BadParameter(f"'{name}' is no name of a class, such as HeatPump", param_hint="NAME")
    if name in devices:
        raise GridcoreError(f"there is a device '{name}' already, by {devices.origin(name)}")
    module = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    words = {"name": name, "module": module, "package": f"gridcore_{module}",
             "distribution": f"gridcore-{module.replace('_', '-')}"}
    folder = out / words["distribution"]
    if folder.exists():
        raise GridcoreError(f"{folder} is there already")
    names = {path: Template(path).substitute(words) for path in FILES}
    with whole_file(folder) as temporary:
        for path, text in FILES.items():
            file = temporary / names[path]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(Template(text).substitute(words), encoding="utf-8")
    for name in names.values():
        click.echo(str(folder / name))
    click.echo(f"pip install -e '{folder}[test]' && python -m pytest {folder}")
