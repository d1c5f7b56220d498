"""The shape of the code base: what may import what, how long a file is, what an import costs."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import gridcore
from gridcore.contract import Device

ROOT = Path(__file__).parent.parent
CORE = ROOT / "gridcore"

# From the left to the right: a package imports only from those before it, for typing too.
PACKAGES = """
    errors suggest kept whole numerics registry contract case network equations linear system equilibrium tape results
    integrate sensitivity testing commands builtin __main__
""".split()

# A plugin's functions that gridcore documents: the contract of a device, and the hooks.
CONTRACT = {"rates", "residuals", "currents", "scheduled", "start", "check"}


@functools.cache
def modules() -> dict[str, Path]:
    """Every module of the core but the table of contents: dotted name below ``gridcore`` -> file."""
    found = {".".join(p.relative_to(CORE).with_suffix("").parts): p for p in sorted(CORE.rglob("*.py"))}
    return {name: path for name, path in found.items() if not name.endswith("__init__")}


def imports(path: Path) -> Iterator[str]:
    """Dotted names that a file imports, when it runs or for typing: `gridcore.case.records.Case` for every spelling."""
    package = ["gridcore", *path.relative_to(CORE).parts[:-1]] if path.is_relative_to(CORE) else []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


def package(name: str) -> str:
    """The package that a dotted name below ``gridcore`` belongs to."""
    return name.removeprefix("gridcore.").partition(".")[0]


def test_the_list_has_every_package():
    assert {package(name) for name in modules()} == set(PACKAGES)
    assert len(PACKAGES) == len(set(PACKAGES))


@pytest.mark.parametrize("name", modules())
def test_a_package_imports_only_from_those_to_its_left(name):
    position = PACKAGES.index(package(name))
    assert not {i for i in imports(modules()[name]) if i.startswith("gridcore.")
                and package(i) in PACKAGES and PACKAGES.index(package(i)) > position}


BUNDLED = {folder.name for folder in (ROOT / "plugins").iterdir()}


@pytest.mark.parametrize("name", modules())
def test_the_core_knows_no_plugin(name):
    assert not {i for i in imports(modules()[name]) if i.split(".")[0] in BUNDLED | {"gridcore_cases"}}
    text = modules()[name].read_text()
    assert not {folder for folder in BUNDLED if folder in text}


def test_every_name_in_the_table_of_contents_is_there_and_typed():
    contents = ast.parse((CORE / "__init__.py").read_text())
    stub = next(node for node in contents.body if isinstance(node, ast.If))
    typed = {alias.asname for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    typed |= {ast.unparse(node.target) for node in stub.body if isinstance(node, ast.AnnAssign)}
    assert typed - {None} | {"__version__"} == set(gridcore.__all__)
    for name in gridcore.__all__:
        assert getattr(gridcore, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = gridcore.nonsense


SOURCES = sorted(p for folder in ("gridcore", "plugins", "tests") for p in (ROOT / folder).rglob("*")
                 if p.suffix in {".py", ".c", ".h"})


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_file_has_at_most_500_lines(path):
    assert len(path.read_text().splitlines()) <= 500


def loaded_after(code: str) -> set[str]:
    shown = subprocess.run([sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"],
                           capture_output=True, text=True, check=True)
    return set(shown.stdout.split())


def test_no_class_has_more_than_20_public_methods():
    found = {f"{name}.{node.name}": sum(isinstance(f, ast.FunctionDef) and f.name[0] != "_" for f in node.body)
             for name, path in modules().items() for node in ast.walk(ast.parse(path.read_text()))
             if isinstance(node, ast.ClassDef)}
    assert not {name: count for name, count in found.items() if count > 20}


def test_the_core_has_fewer_lines_than_before_it_was_designed_anew():
    files = [*CORE.rglob("*.py"), *CORE.rglob("*.[ch]")]
    assert sum(len(path.read_text().splitlines()) for path in files) < 13_806


def test_no_two_files_of_tests_are_one_module():
    """Whose folders are no packages: the second to be imported would be the first."""
    names = Counter(path.name for path in Path(__file__).parent.rglob("*.py")
                    if not (path.parent / "__init__.py").exists() and path.name not in ("conftest.py", "setup.py"))
    assert [name for name, count in names.items() if count > 1] == []


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


@pytest.mark.parametrize("where", ["gridcore", "gridcore.testing"])
def test_the_help_of_a_public_name_names_each_of_its_parameters(where):
    """With the analyses, which are looked up; of devices the parameters are those that they declare, with pages."""
    module = importlib.import_module(where)
    offered = {name: getattr(module, name) for name in module.__all__}
    if module is gridcore:
        offered |= {name: getattr(gridcore.analyses, name) for name in gridcore.analyses}
    unnamed = {}
    for name, item in offered.items():
        if not callable(item) or item is gridcore.hookimpl or (
                inspect.isclass(item) and issubclass(item, Device | BaseException)):
            continue
        told = inspect.getdoc(item) or ""
        asked = [key for key, parameter in inspect.signature(item).parameters.items()
                 if parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)]
        unnamed[name] = [key for key in asked if not re.search(rf"\b{key}\b", told)]
    assert unnamed
    assert not {name: keys for name, keys in unnamed.items() if keys}


def test_tests_that_are_listed_as_slow_are_there() -> None:
    here = Path(__file__).parent
    for line in (here / "slow.txt").read_text().splitlines():
        file, *_, name = line.partition("[")[0].split("::")
        assert f"def {name}(" in (here / file).read_text(), line
