"""Records of a tape: what goes in comes out, and a run of very many steps stays within what it was given."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gridcore as gc
from gridcore.tape import BLOCK, GRID, Arm, Cancel, Records, Resolve, Step, Switch

number = st.integers(0, 2**40)
step = st.builds(Step, number, st.floats(0, 1e3), number, number, st.integers(-1, 99), st.integers(0, 3))
other = st.one_of(st.builds(Arm, number, number, number), st.builds(Cancel, number, number, number),
                  st.builds(Resolve, number), st.builds(Switch, number, st.just((("guard", 3),)), number))
some = st.lists(st.one_of(step, other), max_size=30)


@given(some)
def test_records_are_those_that_were_appended_in_order(made):
    records = Records(made)
    assert records == made
    assert list(records) == made
    assert list(reversed(records)) == made[::-1]
    assert records[1:4] == made[1:4]
    assert [records[-k] for k in range(1, len(made) + 1)] == made[::-1]
    assert records.others == [record for record in made if not isinstance(record, Step)]
    assert records.kinds() == [type(record) for record in made]
    assert pickle.loads(pickle.dumps(records)) == made


@given(some)
def test_the_arrays_of_steps_have_their_fields(made):
    steps = [record for record in made if isinstance(record, Step)]
    for name, column in Records(made).steps()._asdict().items():
        np.testing.assert_array_equal(column, [getattr(record, name) for record in steps])


few = st.integers(0, 2)
runs = st.lists(st.tuples(st.builds(Step, few, st.floats(0, 1), few, few), st.integers(1, 9000)), max_size=4)


@settings(max_examples=40, deadline=None)
@given(runs)
def test_blocks_are_the_steps_in_order_and_those_moved_the_ones_off_the_grid(made):
    records = Records(step for step, count in made for _ in range(count))
    blocks, steps, moved = list(records.blocks()), records.steps(), records.moved()
    assert max(len(block.h) for block in blocks) <= BLOCK
    off = (steps.start != GRID) | (steps.end != GRID)
    for name, column in steps._asdict().items():
        np.testing.assert_array_equal(np.concatenate([getattr(block, name) for block in blocks]), column)
        np.testing.assert_array_equal(getattr(moved, name), column[off])


@given(some, some)
def test_records_are_equal_where_all_of_them_are(a, b):
    assert (Records(a) == Records(b)) is (a == b)


def test_beyond_the_last_there_is_none():
    with pytest.raises(IndexError):
        Records()[0]


def test_a_step_takes_no_more_than_forty_bytes_beside_its_state():
    system = gc.build("hiskens_pai")
    gc.simulate(system, 0.1, 1e-4, checkpoint="memory")
    used = {}
    for t_end in (0.5, 1.0):
        tracemalloc.start()
        run = gc.simulate(system, t_end, 1e-4, checkpoint="memory")
        used[t_end] = tracemalloc.get_traced_memory()[0], len(run.t)
        tracemalloc.stop()
        del run
    (less, few), (more, many) = used[0.5], used[1.0]
    assert (more - less) / (many - few) < 8 * system.n + 40


def test_an_adjoint_of_a_long_run_takes_no_more_than_eighty_bytes_for_each_step_beside_it():
    system, speed = gc.build("smib"), gc.Integral(lambda v: v["GEN1", "omega"] ** 2)
    gc.adjoint(gc.simulate(system, 0.3), speed, "GEN1.H")
    used = {}
    for t_end in (300.0, 900.0):
        run = gc.simulate(system, t_end, 0.01)
        tracemalloc.start()
        gc.adjoint(run, speed, "GEN1.H")
        used[t_end] = tracemalloc.get_traced_memory()[1], len(run.t)
        tracemalloc.stop()
    (less, few), (more, many) = used[300.0], used[900.0]
    assert (more - less) / (many - few) < 80
