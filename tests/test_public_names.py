"""What bundled plugins use of the core is public: in ``gridcore.__all__``, or in that of a package of it. So is what
tests look at.

``python tests/test_public_names.py`` prints what is not.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parent.parent
CORE = ROOT / "gridcore"
# Packages, and the modules that stand beside them.
OFFERING = {".".join(file.parent.relative_to(CORE).parts) for file in CORE.rglob("__init__.py")} | {
    file.stem for file in CORE.glob("*.py")}


def imported(path: Path) -> Iterator[tuple[str, str]]:
    """(module, name) of everything that a file imports from the core, at run time or for typing."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "gridcore":
            yield from ((str(node.module), alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names if alias.name.startswith("gridcore."))


def is_public(module: str, name: str) -> bool:
    """Whether ``from module import name`` takes what the core offers."""
    _, _, package = module.partition(".")
    return package in OFFERING and name in getattr(import_module(module), "__all__", ())


def not_public() -> dict[str, list[str]]:
    """Names of the core that bundled plugins import and that are not public: name -> files."""
    found = defaultdict(list)
    for path in sorted((ROOT / "plugins").glob("gridcore_*/**/*.py")):
        for module, name in imported(path):
            if not is_public(module, name):
                found[f"{module}.{name}"].append(str(path.relative_to(ROOT)))
    return dict(sorted(found.items()))


def test_bundled_plugins_use_public_names_only():
    assert not not_public()


# Names of libraries that begin so and are documented, or the only way.
OTHERS = {"_repr_html_", "_asdict", "_fields", "_fields_", "_replace", "_getframe", "_h5file", "_h5ds", "_exit"}


def privates(path: Path) -> Iterator[str]:
    """Attributes with a leading underscore that a test reads or replaces, and that it has not made itself."""
    tree = ast.parse(path.read_text())
    made = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)}
    made |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            name = node.attr
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("setattr", "delattr", "object"):
            name = next((a.value for a in node.args[1:2] if isinstance(a, ast.Constant)), "")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("gridcore"):
            name = next((alias.name for alias in node.names if alias.name.startswith("_")), "")
        else:
            continue
        if str(name).startswith("_") and not str(name).endswith("__") and name not in made | OTHERS:
            yield f"{path.relative_to(ROOT)}:{node.lineno} {name}"


def test_tests_look_at_what_is_public():
    assert not [found for path in sorted((ROOT / "tests").rglob("*.py")) for found in privates(path)]


if __name__ == "__main__":
    names = not_public()
    for name, files in names.items():
        print(f"{name}: {', '.join(files)}")
    print(f"{len(names)} names")
