"""The shape of the code base: what may import what, how long a file is, what an import costs."""

from __future__ import annotations

import ast
import importlib
import inspect
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import gridcore
from gridcore.contract.device import Device

ROOT = Path(__file__).parent.parent
CORE = ROOT / "gridcore"

# From the case file to the results: a module may import from modules before it in this list.
PIPELINE = """
    errors suggest case.units registry.hookspecs registry.registries contract.limits contract.device
    contract.injectors contract.blocks case.records case.files contract.scope equations.trace equations.kernel
    equations.pointwise equations.layout equations.sparse_map equations.assembly network.network case.disturbances
    system.switching linear.many_rhs linear.linsolve equilibrium.powerflow equilibrium.initialise
    equilibrium.operating_point equilibrium.derivative system.system equilibrium.widen_limits tape.checkpoints
    tape.records results.signals results.export results.run results.store linear.newton integrate.round_off
    integrate.theta.predictor equilibrium.starting_at integrate.guards integrate.locate integrate.driver
    integrate.theta.step integrate.ida integrate.retrace linear.fixed_pattern sensitivity.same_function
    sensitivity.objective sensitivity.operators sensitivity.request sensitivity.finite_differences
    sensitivity.jump_rules sensitivity.adjoint sensitivity.continuous_adjoint sensitivity.objective_files
    results.rotors results.summary commands.tables commands.progress testing.complex_step testing.testbed
    testing.doctor commands.options commands.grad commands.main __main__ builtin
""".split()

# Imports to the right, inside a function, that are there on purpose.
DEFERRED = {("contract.device", "case.records"): "calling a device class makes a Record of a case",
            ("results.run", "results.store"): "a run saves itself",
            ("sensitivity.adjoint", "sensitivity.continuous_adjoint"):
            "IDA is loaded when the continuous adjoint is asked for"}

# A plugin's functions that gridcore documents: the contract of a device, and the hooks.
CONTRACT = {"rates", "residuals", "currents", "scheduled", "start", "check"}


def modules() -> dict[str, Path]:
    """Every module of the core but the table of contents: dotted name below ``gridcore`` -> file."""
    found = {".".join(p.relative_to(CORE).with_suffix("").parts): p for p in sorted(CORE.rglob("*.py"))}
    return {name: path for name, path in found.items() if not name.endswith("__init__")}


def imports(path: Path) -> Iterator[str]:
    """Dotted names that a file imports when it runs, `gridcore.case.records` for both spellings."""
    tree = ast.parse(path.read_text())
    guarded = [node.body for node in ast.walk(tree)
               if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    typing_only = {inner for body in guarded for child in body for inner in ast.walk(child)}
    package = ["gridcore", *path.relative_to(CORE).parts[:-1]] if path.is_relative_to(CORE) else []
    for node in ast.walk(tree):
        if node in typing_only:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


def own_module(name: str) -> str | None:
    """The module of the core that an imported name belongs to, below ``gridcore``."""
    parts = name.split(".")
    for length in range(len(parts), 1, -1):
        if parts[0] == "gridcore" and ".".join(parts[1:length]) in modules():
            return ".".join(parts[1:length])
    return None


def test_the_pipeline_lists_every_module():
    assert set(modules()) <= set(PIPELINE)
    assert len(PIPELINE) == len(set(PIPELINE))


@pytest.mark.parametrize("name", modules())
def test_a_module_imports_only_from_stages_to_its_left(name):
    position = PIPELINE.index(name)
    right = {other for other in map(own_module, imports(modules()[name]))
             if other is not None and other != name and PIPELINE.index(other) > position}
    assert not {other for other in right if (name, other) not in DEFERRED}


@pytest.mark.parametrize("name", modules())
def test_the_core_knows_no_plugin(name):
    bundled = {folder.name for folder in (ROOT / "plugins").iterdir()} | {"gridcore_cases"}
    assert not {i for i in imports(modules()[name]) if i.split(".")[0] in bundled}
    named = {folder for folder in bundled - {"gridcore_cases"} if folder in modules()[name].read_text()}
    assert not named


def test_every_name_in_the_table_of_contents_is_there_and_typed():
    contents = ast.parse((CORE / "__init__.py").read_text())
    stub = next(node for node in contents.body if isinstance(node, ast.If))
    typed = {alias.asname for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert typed - {None} | {"__version__"} == set(gridcore.__all__)
    for name in gridcore.__all__:
        assert getattr(gridcore, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = gridcore.nonsense


SOURCES = sorted(p for folder in ("gridcore", "plugins", "tests") for p in (ROOT / folder).rglob("*")
                 if p.suffix in {".py", ".c"})


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_file_has_at_most_500_lines(path):
    assert len(path.read_text().splitlines()) <= 500


def loaded_after(code: str) -> set[str]:
    shown = subprocess.run([sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"],
                           capture_output=True, text=True, check=True)
    return set(shown.stdout.split())


def test_importing_gridcore_loads_nothing_heavy():
    heavy = {"numpy", "scipy", "casadi", "networkx", "nbklu", "xarray", "h5netcdf", "matplotlib", "pandas",
             "click", "rich", "pluggy"}
    assert not heavy & loaded_after("import gridcore")


def test_a_simulation_loads_neither_figures_nor_tables():
    code = "import gridcore as gc; gc.simulate(gc.build('smib'), t_end=0.02)"
    assert not {"xarray", "h5netcdf", "matplotlib", "pandas"} & loaded_after(code)


def public(module: ModuleType) -> Iterator[tuple[str, object]]:
    """Public functions, classes and methods that a module defines, with the names to report them by."""
    for name, item in list(vars(module).items()):
        if name.startswith("_") or not (inspect.isfunction(item) or inspect.isclass(item)) \
                or item.__module__ != module.__name__ or hasattr(item, "gridcore_impl"):
            continue
        yield name, item
        documented_once = CONTRACT if inspect.isclass(item) and issubclass(item, Device) else set()
        for member in vars(item) if inspect.isclass(item) else ():
            value = getattr(item, member)
            if not member.startswith("_") and member not in documented_once \
                    and (inspect.isroutine(value) or isinstance(value, property)):
                yield f"{name}.{member}", value


@pytest.mark.parametrize("name", modules())
def test_what_is_public_has_a_docstring(name):
    module = importlib.import_module(f"gridcore.{name}")
    assert module.__doc__
    assert not [label for label, item in public(module) if not inspect.getdoc(item)]
