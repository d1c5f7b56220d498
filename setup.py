"""What pyproject.toml cannot say: packages live in two folders and the cases ship beside them.

Every folder ``plugins/gridcore_*`` is a package of that name, and ``cases/`` is ``gridcore_cases``.
Everything else is in pyproject.toml.
"""

from pathlib import Path

from setuptools import find_namespace_packages, setup

HERE = Path(__file__).parent
bundled = sorted(folder.name for folder in (HERE / "plugins").glob("gridcore_*"))

setup(
    packages=[
        *find_namespace_packages(str(HERE), include=["gridcore", "gridcore.*"]),
        *find_namespace_packages(str(HERE / "plugins"), include=["gridcore_*"]),
        "gridcore_cases",
    ],
    package_dir={
        **{name: f"plugins/{name}" for name in bundled},
        "gridcore_cases": "cases",
    },
)
