"""A run as a table of text."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import gridcore as gc
from gridcore.errors import CaseError, GridcoreError
from gridcore.results import select


@pytest.fixture(scope="module")
def run():
    return gc.simulate(gc.build("wscc9"), t_end=0.3)


def test_a_table_reads_back_every_bit(run, tmp_path):
    run.save(tmp_path / "run.csv", columns=["GEN*.omega", "BUS7.Vm"])
    header, *rows = csv.reader((tmp_path / "run.csv").read_text().splitlines())
    assert header == ["time", "GEN1.omega", "GEN2.omega", "GEN3.omega", "BUS7.Vm"]
    table = np.array(rows, dtype=float)
    assert np.array_equal(table[:, 0], run.t)
    assert np.array_equal(table[:, 2], run["GEN2", "omega"])
    assert np.array_equal(table[:, 4], run["BUS7", "Vm"])


def test_a_table_has_by_default_what_the_dataset_has(run, tmp_path):
    run.save(tmp_path / "run.csv")
    header = next(csv.reader((tmp_path / "run.csv").open()))
    sizes = [v.shape[1] for v in run.to_xarray().data_vars.values() if v.dims[0] == "time"]
    assert len(header) == 1 + sum(sizes)
    assert len(set(header)) == len(header)


def test_columns_that_match_nothing_are_answered_with_the_nearest(run, tmp_path):
    with pytest.raises(CaseError, match=r"no quantity matches 'GEN2\.omga'; did you mean GEN2\.omega"):
        run.save(tmp_path / "run.csv", columns=["GEN2.omga"])
    assert select(run.system, ["GEN2.omega", "GEN2.*"])[0] == ("GEN2", "omega")


def test_a_table_that_cannot_be_written_is_one_error_and_leaves_nothing(run, tmp_path):
    (tmp_path / "taken.csv").mkdir()
    with pytest.raises(GridcoreError, match=r"taken\.csv: cannot be written"):
        run.save(tmp_path / "taken.csv", columns="GEN1.omega")
    assert [*tmp_path.iterdir()] == [tmp_path / "taken.csv"]
