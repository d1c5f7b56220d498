"""Gradients of the industry's models on kundur and ieee39 are the derivative of the program, limits hit included."""

from __future__ import annotations

from collections.abc import Iterator

import conventional_studies  # noqa: F401
import converter_studies  # noqa: F401
import dc_studies  # noqa: F401
import forming_studies  # noqa: F401
import limiter_studies  # noqa: F401
import playback_studies  # noqa: F401
import pytest
import tap_changer_studies  # noqa: F401
import trip_studies  # noqa: F401
from devices_for_tests import SMALL, registered
from industry_studies import INDUSTRY
from scenes import DEVICES
from studies import compare

from gridcore.case import validate
from gridcore_readers import dyr


@pytest.fixture(autouse=True)
def _devices() -> Iterator[None]:
    with registered(*SMALL, *DEVICES):
        yield


@pytest.mark.parametrize("name", INDUSTRY)
def test_forward_and_adjoint_are_the_complex_step_of_the_program(name: str) -> None:
    compare(INDUSTRY[name]())


def test_every_model_of_the_industry_is_in_a_study_and_some_of_its_parameters_with_it() -> None:
    """Machines, exciters, governors, stabilizers and loads of a DYR file."""
    asked: set[str] = set()
    for make in INDUSTRY.values():
        study = make()
        model = {i.id: i.device.__name__ for i in validate(study.case).records}
        asked |= {model[name.rpartition(".")[0]] for name in study.wrt}
    assert not {cls.__name__ for cls in dyr.available().values()} - asked
