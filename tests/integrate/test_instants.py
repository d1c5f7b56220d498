"""In which order the events of an instant part: by how far off guards are, and how fast."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from gridcore.integrate.instants import Instant

RATES = np.array([2.0, -3.0, 9.0])  # of two differential variables and an algebraic one, which follows the first


class Moving:
    """A system of which guard k has the gradient and the slope in time that `rows` say; and its Newton solver."""

    def __init__(self, *rows):
        self.rows = rows
        self.ws = SimpleNamespace(differential=np.array([True, True, False]), rhs=lambda: RATES.copy(), Z=None)

    def guard_row(self, guard):
        return lambda Z: (np.arange(3), np.array(self.rows[guard][:3], float), self.rows[guard][3])

    def derivative(self, differential, along=None):
        moved = np.where(differential, RATES, 0.0) if along is None else np.array(along[:3])
        moved[2] = 4.0 * moved[0]
        return moved


def instant(*rows):
    moving = Moving(*rows)
    return Instant(moving, moving)


def test_a_guard_moves_with_what_it_reads_and_with_time():
    guards = (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 5), (1, 1, 1, 5)
    assert list(instant(*guards).rates(range(5))) == [2.0, -3.0, 8.0, 5.0, 12.0]
    assert list(instant(*guards).rates([4, 1], np.array([1.0, 0.5, 99.0, 2.0]))) == [1.0 + 0.5 + 4.0 + 10.0, 0.5]


def test_events_part_by_what_moves_between_them():
    at = instant()
    assert at.apart is None
    at.part()
    assert list(at.apart) == [2.0, -3.0, 0.0, 1.0]
    at.part(0.5)
    assert list(at.apart) == [3.0, -4.5, 0.0, 1.5]
    later = instant()
    later.part(2.0)
    assert list(later.apart) == [4.0, -6.0, 0.0, 2.0]


@pytest.mark.parametrize("speed", [-4.0, -1.0, -0.5, 0.5, 1.0, 4.0])
@pytest.mark.parametrize("off", [-3.0, -1.0, 0.0, 1.0, 3.0])
def test_a_guard_is_as_late_as_it_takes_to_make_up_for_what_it_is_off_and_never_early(speed, off):
    at = instant((0, 0, 0, 1.0), (speed, 0, 0, 0))
    at.apart = np.array([off / speed if speed else 0.0, 0.0, 0.0, 0.0])
    late = at.lateness(np.array([1]))
    assert late[0] == max(0.0, -off / (2 * speed))


def test_a_guard_that_does_not_move_is_not_late():
    at = instant((0, 0, 0, 0), (1, 0, 0, 0))
    at.apart = np.array([-1.0, 0.0, 0.0, 0.0])
    with np.errstate(all="raise"):
        assert list(at.lateness(np.array([0, 1]))) == [0.0, 0.5]
