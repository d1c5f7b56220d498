"""Which tests run which lines of the mutated modules, and how long they take."""

from __future__ import annotations

import ast
import json
import time
from bisect import bisect
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

import coverage
import pytest


class Watch:
    """A plugin of pytest that notes of each test its seconds and its lines, into a file."""

    def __init__(self, root: Path, modules: list[str], file: Path):
        self.root, self.file = root, file
        self.coverage = coverage.Coverage(data_file=None, include=modules, config_file=False)
        self.seconds: dict[str, float] = {}

    def pytest_sessionstart(self) -> None:
        self.coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        began = time.perf_counter()
        self.coverage.switch_context(item.nodeid)
        result = yield
        self.coverage.switch_context("")
        self.seconds[item.nodeid] = time.perf_counter() - began
        return result

    def pytest_sessionfinish(self) -> None:
        self.coverage.stop()
        data = self.coverage.get_data()
        run = {str(Path(name).relative_to(self.root)): data.contexts_by_lineno(name) for name in data.measured_files()}
        self.file.write_text(json.dumps({"seconds": self.seconds, "run": run}))


class Lines:
    """The tests of each line, the fastest first."""

    def __init__(self, root: Path, file: Path):
        noted = json.loads(file.read_text())
        self.root, self.seconds = root, noted["seconds"]
        self.run = {name: {int(line): set(tests) for line, tests in lines.items()}
                    for name, lines in noted["run"].items()}

    def tests(self, path: Path, line: int) -> list[str]:
        """Tests that run the statement of a line; of one that no test does (at import), those that run the module."""
        lines = self.run.get(str(path.relative_to(self.root)), {})
        found = set().union(*(lines.get(k, ()) for k in _statement(path, line)))
        if not found - {""}:
            found = set().union(*lines.values())
        return self.ordered(found - {""})

    def beside(self, tests: list[str]) -> list[str]:
        """The other tests of their files: what a fixture ran for the first of them, they look at, too."""
        files = {test.partition("::")[0] for test in tests}
        return self.ordered({test for test in self.seconds if test.partition("::")[0] in files} - set(tests))

    def within(self, tests: list[str], seconds: float) -> list[str]:
        """The first of them, as many as take so long."""
        return tests[: bisect(list(accumulate(self.seconds[test] for test in tests)), seconds)]

    def ordered(self, tests: set[str]) -> list[str]:
        """The fastest first."""
        return sorted(tests, key=lambda test: (self.seconds[test], test))


def _statement(path: Path, line: int) -> range:
    """The lines of the innermost statement that a line is part of; of a compound one, without those of its body."""
    found = range(line, line + 1)
    for node in ast.walk(ast.parse(path.read_text())):  # the outer ones first
        if isinstance(node, ast.stmt) and node.lineno <= line <= node.end_lineno:
            body = getattr(node, "body", None)
            last = body[0].lineno - 1 if body else node.end_lineno
            found = range(node.lineno, max(last, node.lineno) + 1)
    return found
