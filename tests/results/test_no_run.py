"""What is given in place of a run is refused in one sentence, by whatever takes a run."""

import pytest

import gridcore as gc
from gridcore.errors import CaseError

END = gc.Terminal(lambda v: v["GEN1", "omega"])
TAKE = {
    "adjoint": lambda run: gc.adjoint(run, END, "GEN1.H"),
    "differences": lambda run: gc.differences(run, END, "GEN1.H"),
    "retrace": gc.retrace,
    "forward_gradient": lambda run: gc.analyses.forward_gradient(run, END, "GEN1.H"),
    "tsa": lambda run: gc.analyses.tsa(run, "GEN1.H"),
    "interpolated": lambda run: gc.analyses.interpolated(run, 0.1),
    "resampled": lambda run: gc.analyses.resampled(run, 0.1),
    "labelled": lambda run: gc.analyses.labelled(run, "GEN1.omega"),
    "peaks": lambda run: gc.analyses.peaks(run, "GEN1.omega"),
    "data_frame": gc.analyses.data_frame, "dataset": gc.analyses.dataset, "summary": gc.analyses.summary,
    "rotors": gc.analyses.rotors, "citations": gc.analyses.citations, "plot": gc.analyses.plot}


@pytest.mark.parametrize("given", [None, 3, "run.nc", "smib", gc.build("smib")], ids=str)
@pytest.mark.parametrize("name", TAKE)
def test_what_is_no_run_is_refused_by_whatever_takes_one(name, given):
    with pytest.raises(CaseError, match=r"is no run: gc\.simulate makes one of a system"):
        TAKE[name](given)


@pytest.mark.parametrize("t", [["x"], ("a", "b"), {}, object(), 10**400, [[0.1], [0.1, 0.2]]])
def test_times_of_a_run_are_numbers(t):
    with pytest.raises(CaseError, match="must be times \\(s\\), or a text such as '50 ms'"):
        gc.simulate("smib", 0.2).at(t)


def test_a_table_of_records_is_of_whatever_has_a_case():
    case = gc.load_case("smib")
    for study in ("smib", gc.build(case), gc.simulate(case, 0.1)):
        assert gc.analyses.table(study, "Bus").equals(case.table("Bus"))
    with pytest.raises(CaseError, match="3 is no case"):
        gc.analyses.table(3, "Bus")
