"""What made a result: version, date, case, options, libraries, machine."""

from __future__ import annotations

import json
import os
import platform
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from gridcore.case import Case, ValidCase, validate
from gridcore.equilibrium import Equilibrium
from gridcore.results import Run

from .fingerprint import case_digest

NAMES = ("gridcore", "date", "command", "case_fingerprint", "options", "libraries", "machine")
_VERSION = re.compile(r"^Version: *(\S+)", re.MULTILINE)


def provenance(of: Run | Equilibrium | Case | None = None, options: Mapping[str, Any] | None = None) -> dict[str, str]:
    """What makes a result now; of a run that was kept, ``run.provenance`` says what made it then.

    Parameters
    ----------
    of : Run, Equilibrium or Case, optional
        What the result is of; without it nothing is said of case and options.
    options : mapping, optional
        Of what was done with it; by default those of a run.

    Returns
    -------
    dict of str to str
        ``gridcore``, its version; ``date``, UTC by ISO 8601; ``command``, the command line of the process;
        ``case_fingerprint``, the same for two cases whose records say the same in other words or units;
        ``options`` as JSON; ``libraries``, with versions, distributions of plugins among them; ``machine``.
    """
    of_case = {} if of is None else {
        "case_fingerprint": case_digest(_valid(of)),
        "options": json.dumps(_options(of) if options is None else dict(options), default=_plain)}
    return {"gridcore": metadata.version("gridcore"), "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "command": shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]]), **of_case,
            "libraries": ", ".join(_libraries()), "machine": _machine()}


def _valid(of: Run | Equilibrium | Case) -> ValidCase:
    if isinstance(of, Case):
        return validate(of)
    system = of.system if isinstance(of, Run) else of
    return ValidCase(float(system.case.base_mva), float(system.case.frequency), list(system.instances))


def _options(of: Run | Equilibrium | Case) -> dict[str, Any]:
    if not isinstance(of, Run):
        return {}
    return {**of.settings, "methods": {method.name: dict(method.options) for method in of.tape.methods}}


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else str(value)


def _libraries() -> Iterator[str]:
    """Python, what gridcore requires, and the distributions of plugins."""
    yield f"{platform.python_implementation()} {platform.python_version()}"
    required = (re.match(r"[\w.-]+", line) for line in metadata.requires("gridcore") or () if "extra ==" not in line)
    names = {found[0] for found in required if found}
    plugins = {entry.dist for entry in metadata.entry_points(group="gridcore") if entry.dist}
    names |= {of.name for of in plugins} - {"gridcore"}
    for name in sorted(names, key=str.lower):
        yield f"{name} {_version(name)}"


def _version(name: str) -> str:
    """Of a distribution; the parser of ``metadata.version`` reads its whole description, too."""
    text = metadata.distribution(name).read_text("METADATA")
    found = _VERSION.search(text) if text else None
    return found[1] if found else metadata.version(name)


def _machine() -> str:
    """System, processor, number of CPUs; no name."""
    return f"{platform.system()} {platform.release()}, {platform.machine()}, {os.cpu_count()} CPUs"
