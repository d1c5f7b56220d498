"""What is asked of a part of a file: numbers in their ranges, of their type and length; clocks of what there is."""

from __future__ import annotations

import hashlib
from types import SimpleNamespace

import numpy as np
import pytest

import gridcore as gc
from gridcore.errors import GridcoreError
from gridcore.tape import Clock
from gridcore_netcdf.checks import Part, check_clocks, ranges
from gridcore_netcdf.output import Output
from gridcore_netcdf.seal import is_sealed, seal

SYSTEM = gc.build("hiskens_pai")


def part(tmp_path, values=(), **attributes):
    """A part of a file that has one variable, `numbers`, and attributes."""
    (path := tmp_path / "x.nc").write_bytes(bytes(1000))
    group = SimpleNamespace(variables={"numbers": np.asarray(values)}, attrs=attributes)
    return Part(group, "tape", path)


@pytest.mark.parametrize("dtype", [int, float])
@pytest.mark.parametrize(("low", "end"), [(-1, 3), (0, 4), (2, 3)])
def test_a_number_fits_from_the_first_of_its_range_to_before_the_end(tmp_path, low, end, dtype):
    for value in range(-9, 9):
        values = np.array([low, value, low, -7], dtype)[:3]
        if low <= value < end:
            assert list(part(tmp_path, values).within("numbers", 3, {"numbers": (low, end)}, dtype)) == list(values)
        else:
            with pytest.raises(GridcoreError, match=rf"'tape/numbers' is {dtype(value)} in row 1, and must be at least "
                                                    rf"{low} and below {end}"):
                part(tmp_path, values).within("numbers", 3, {"numbers": (low, end)}, dtype)


def test_a_variable_of_another_length_is_told_with_both(tmp_path):
    for shape, wanted, said in (((5,), (4,), r"\(5,\), and must be float64 \(4\)"),
                                ((2, 3), (2, 4), r"\(2, 3\), and must be float64 \(2, 4\)"),
                                ((5, 1), (None,), r"\(5, 1\), and must be float64 \(any\)"),
                                ((5,), (5, None), r"\(5,\), and must be float64 \(5, any\)")):
        with pytest.raises(GridcoreError, match=rf"'tape/numbers' is float64 {said}$"):
            part(tmp_path, np.zeros(shape)).numbers("numbers", float, wanted)


def test_positions_are_of_variables_that_there_are_each_once(tmp_path):
    for good in ([], [0], [2], [2, 0, 1]):
        assert list(part(tmp_path, np.array(good, int)).positions("numbers", 3)) == good
    for bad in ([-1], [-7, 1], [3], [0, 3], [0, 9], [1, 1], [2, 0, 2]):
        with pytest.raises(GridcoreError, match="'tape/numbers' must be from 0 to 2, each once"):
            part(tmp_path, np.array(bad)).positions("numbers", 3)


def test_a_variable_has_no_more_bytes_than_its_file(tmp_path):
    assert len(part(tmp_path, np.zeros(125)).numbers("numbers", float, (None,))) == 125
    with pytest.raises(GridcoreError, match="claims 126 values"):
        part(tmp_path, np.zeros(126)).numbers("numbers", float, (None,))


def test_an_attribute_of_another_type_is_told_with_that_which_it_must_have(tmp_path):
    made = part(tmp_path, text=1.5, number="one", json="[1]", null="null")
    assert made.json("null", dict, type(None)) is None
    for asked, said in ((lambda: made.text("text"), "'tape/text' is float, and must be str$"),
                        (lambda: made.integer("number"), "'tape/number' is str, and must be int$"),
                        (lambda: made.json("json", dict, type(None)), "'tape/json' is list, and must be dict$")):
        with pytest.raises(GridcoreError, match=said):
            asked()


def test_what_happens_at_a_point_may_happen_at_the_first_and_at_the_last():
    """And what is of a guard, a clock, a method or a setting may be of the first and of the last of these."""
    allowed = ranges(SYSTEM, points=9, clocks=5, methods=3, settings=4)
    many = {"k": 9, "guard": 2, "by": 2, "clock": 5, "start": 5, "end": 5, "method": 3, "settings": 4}
    for name, found in allowed.items():
        kind, _, field = name.rpartition("_")
        if kind in ("Arm", "Cancel", "Switch") or field in ("start", "end", "method") or name == "point_clock":
            assert found == (0, many[field]), name
    assert allowed["Step_k"] == allowed["Resolve_k"] == (0, 8)
    assert allowed["Step_guard"] == (-1, 2)
    assert allowed["Clock_after"] == (-1, 5)
    assert allowed["Clock_of"] == (-1, len(SYSTEM.Z0))


def test_a_clock_is_of_a_parameter_or_a_guard_that_there_is(tmp_path):
    last = len(SYSTEM.Z0) - 2
    grid, timer, guard = Clock("grid", -1), Clock("timer", SYSTEM.n), Clock("guard", 0)
    for good in ([grid, timer, Clock("timer", last), guard, Clock("guard", 1), Clock("delay", last, 0)],
                 [grid, Clock("delay", SYSTEM.n, 0), Clock("delay", last, 1)]):
        check_clocks(part(tmp_path), good, SYSTEM)
    for bad in (Clock("grid", 0), Clock("grid", -1, 0), Clock("timer", SYSTEM.n - 1), Clock("timer", last + 1),
                Clock("timer", last, 0), Clock("guard", -1), Clock("guard", 2), Clock("guard", 0, 0),
                Clock("delay", last, 1), Clock("delay", last, 7), Clock("delay", last + 1, 0),
                Clock("delay", last, -1)):
        with pytest.raises(GridcoreError, match="'tape/Clock' number 1 cannot be"):
            check_clocks(part(tmp_path), [grid, bad], SYSTEM)


@pytest.mark.parametrize("size", [0, 1, (1 << 18) - 1, 1 << 18, (1 << 18) + 1, 1_000_000])
def test_the_end_of_a_file_is_the_digest_of_all_before_whatever_its_length(tmp_path, size):
    (path := tmp_path / "x.nc").write_bytes(data := np.random.default_rng(0).bytes(size))
    with open(path, "r+b") as file:
        output = Output(file.fileno())
        output.truncate(size)
        seal(output)
        output.check()
    assert path.read_bytes()[-32:] == hashlib.sha256(data).digest()
    assert is_sealed(path)
