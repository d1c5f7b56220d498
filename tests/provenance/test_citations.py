"""BibTeX of what a run rests on: every entry is named by something, and everything that names a publication has one."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import gridcore as gc
import gridcore_provenance
from gridcore.registry import cases, devices, integrators
from gridcore_provenance.citations import publications

FILE = Path(gridcore_provenance.__file__).with_name("references.bib")
# Who tells of no publication: what happens in a study, nodes, recordings, closed forms, and what is told in full.
SILENT = {"BouncingBall", "BranchTrip", "Bus", "BusFault", "Corner", "JoinedBus", "OverloadRelay", "ParameterStep",
          "Ramp", "Sample", "StaticGenerator", "TimeSeries", "Trip", "UnderFrequencyLoadShedding"}


def keys(text: str) -> list[str]:
    return re.findall(r"^@\w+\{([^,]+),$", text, re.MULTILINE)


def words(text: str) -> str:
    return " ".join(text.replace("*", "").replace("`", "").split())


def sources() -> str:
    """All that devices, cases, methods and linear solvers say."""
    from gridcore_klu import solver as klu
    from gridcore_superlu import solver as superlu

    told = [base.__doc__ or "" for name in devices for base in devices[name].__mro__ if issubclass(base, gc.Device)]
    told += [gc.load_case(file.parent.name).about.get("source", "")
             for name in cases for file in cases[name].folder.glob("*/case.toml")]
    told += [inspect.getmodule(integrators[name].make).__doc__ or "" for name in integrators]
    return words("\n".join([*told, klu.__doc__, superlu.__doc__, "CasADi"]))


def test_the_bibliography_is_well_formed():
    text = FILE.read_text()
    found = publications()
    assert len(found) == len(re.findall(r"^@", text, re.MULTILINE)) == len({p.key for p in found})
    for publication in found:
        assert publication.entry.count("{") == publication.entry.count("}")
        fields = dict(re.findall(r"^  (\w+) = \{(.*)\},$", publication.entry, re.MULTILINE))
        assert fields["title"]
        assert "author" in fields or "organization" in fields or "institution" in fields
        assert len(fields) == publication.entry.count("\n") - 2  # a line each


def test_every_entry_is_named_by_something():
    told = sources()
    assert not [p.key for p in publications() if not any(phrase in told for phrase in p.phrases)]


@pytest.mark.parametrize("name", sorted(devices))
def test_every_model_that_names_a_publication_has_an_entry(name):
    told = words("\n".join(base.__doc__ or "" for base in devices[name].__mro__ if issubclass(base, gc.Device)
                           and base not in (gc.Device, gc.Load, gc.Source, gc.Node)))
    found = [p for p in publications() if any(phrase in told for phrase in p.phrases)]
    assert bool(found) == (name not in SILENT), told


def test_a_run_cites_models_data_and_methods():
    text = gc.simulate(gc.build("wscc9"), t_end=0.05, method="trbdf2").citations()
    assert {"gridcore", "sauer1998", "anderson1977", "kundur1994", "bank1985", "hosea1996", "davis2010",
            "andersson2019", "case-wscc9"} <= {*keys(text)}
    assert "ieee421-2005" not in keys(text)  # no such exciter is in it
    above = text[:text.index("@book{sauer1998")].splitlines()[-1]
    assert "TwoAxis" in above
    assert "the case wscc9" in above
    assert text.splitlines()[-1].startswith("% without a source: Bus")


def test_classes_and_cases_bring_entries_of_their_own():
    class Ballast(gc.Load):
        """A load."""

        bibtex = "@misc{ballast,\n  title = {Ballast},\n}\n"

        def currents(s, bus):
            return 0.0 * bus.Vr, 0.0 * bus.Vi

    with gc.registered(Ballast):
        case = gc.load_case("wscc9")
        case.add(Ballast(bus=5, P0=0.0))
        case.about["bibtex"] = "@misc{mine,\n  title = {Mine},\n}\n"
        case.about["source"] = "100 % of it_all & more"
        text = gc.simulate(gc.build(case), t_end=0.02).citations()
    assert "% Ballast\n@misc{ballast," in text
    assert "% the case wscc9\n@misc{mine," in text
    assert r"note = {100 \% of it\_all \& more}" in text
