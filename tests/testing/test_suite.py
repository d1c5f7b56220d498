"""A suite of named checks: as a report, as tests of pytest, with failures that are expected by name."""

from __future__ import annotations

import subprocess
import sys
from contextlib import nullcontext

import pytest

import gridcore.testing
from gridcore.errors import PluginError
from gridcore.testing import Suite, Wrong

SUITE = """
from contextlib import nullcontext
from gridcore.testing import NotExamined, Suite, require

number_checks = Suite(lambda number, base=10: nullcontext(number % base))

@number_checks.add("even")
def even(number):
    require(number % 2 == 0, f"{number} is odd")
    return f"{number} is even"

@number_checks.add("by four", "even")
def by_four(number):
    require(number % 4 == 0, f"{number} is no multiple of four")
    return ""

@number_checks.add("small")
def small(number):
    if number == 6:
        raise NotExamined("six is neither")
    return f"{12 // (number - 5)} is well"
"""
here: dict[str, Suite[int]] = {}
exec(SUITE, here)
number_checks = here["number_checks"]


def test_a_report_names_each_check_and_what_it_found():
    report = number_checks.report(4)
    assert report.ok
    assert report.passed == ["even: 4 is even", "small: -12 is well"]
    assert str(report).startswith("int: well\n  even: 4 is even")
    report = number_checks.report(13, base=8)
    assert report.problems == ["even: 5 is odd", "small: ZeroDivisionError: integer division or modulo by zero"]
    assert report.passed == ["by four: not examined: that needs 'even'"]
    assert "NOT WELL\n  wrong: even: 5 is odd" in str(report)
    assert number_checks.report(6).passed == ["even: 6 is even", "small: not examined: six is neither"]


def test_a_check_may_say_several_things():
    suite: Suite[int] = Suite(nullcontext)

    @suite.add("twice")
    def twice(number):
        raise Wrong("one", "two")

    assert suite.report(1).problems == ["twice: one", "twice: two"]


def test_an_expected_failure_of_a_name_that_no_check_has_is_told():
    with pytest.raises(PluginError, match=r"there is no check 'evn'; did you mean even\?"):
        number_checks(4, expected_failures={"evn": "because"})


def test_each_check_is_a_test_and_an_expected_failure_that_passes_an_error(tmp_path):
    (tmp_path / "test_numbers.py").write_text(f"""{SUITE}
@number_checks(6, expected_failures={{"by four": "it is six"}})
def test_six(check):
    check()

@number_checks(5)
def test_five(check):
    check()

@number_checks(4, expected_failures={{"even": "nobody knows why"}})
def test_four(check):
    check()
""")
    shown = subprocess.run([sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", str(tmp_path)],
                           capture_output=True, text=True, cwd=tmp_path).stdout
    for line in ("test_six[even] PASSED", "test_six[by four] XFAIL", "test_six[small] SKIPPED (six is neither)",
                 "test_five[even] FAILED", "test_five[by four] SKIPPED (that needs 'even')", "test_five[small] FAILED",
                 "test_four[even] FAILED", "test_four[by four] PASSED", "test_four[small] PASSED"):
        assert line in shown
    assert "[XPASS(strict)] nobody knows why" in shown
    assert "Wrong: 5 is odd" in shown


def test_gridcore_does_not_import_pytest():
    code = "import sys, gridcore.testing; gridcore.testing.reader_checks; assert 'pytest' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("kind", ["device", "integrator", "linear_solver", "reader", "objective", "jump_rule"])
def test_there_is_a_suite_for_every_kind(kind):
    suite = getattr(gridcore.testing, f"{kind}_checks")
    assert isinstance(suite, Suite)
    assert all(needed in suite.checks for _, needs in suite.checks.values() for needed in needs)


def test_a_suite_that_is_not_there_is_an_error_that_offers_the_nearest():
    with pytest.raises(AttributeError, match=r"'readers_checks'; did you mean reader_checks"):
        gridcore.testing.readers_checks  # noqa: B018
