"""What is registered is checked, at once and in words; and what hooks promise to those who implement them."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
import warnings
from abc import ABC, abstractmethod

import pytest

import gridcore as gc
from gridcore import registry
from gridcore.errors import CaseError, DeviceError, PluginError, PluginWarning
from gridcore.registry import (
    Adjoint,
    Analysis,
    Cases,
    Command,
    Companion,
    DeviceClass,
    Integrator,
    JumpRule,
    ObjectiveKind,
    Reader,
    analyses,
    devices,
    readers,
    registered,
)
from gridcore.registry import registries as plugins


class Abacus(gc.Device):
    """A number that counts itself."""

    x = gc.State("", doc="the number")

    def rates(s):
        return 1.0


# What is wrong with a record --------------------------------------------------------------------------


class Method(ABC):
    def __init__(self, system, step):
        self.step = step

    @abstractmethod
    def advance(self):
        pass

    @abstractmethod
    def restart(self):
        pass


class Rule:
    moving = True

    def step(self):
        pass

    def shift(self):
        pass


WRONG = {
    "no field 'wirte'; did you mean write": lambda: Reader.of(".abc", len, wirte=len),
    "missing 1 required positional argument: 'read'; the fields are suffix, read, write": lambda: Reader.of(".abc"),
    "file format '.abc': read = 3 cannot be called": lambda: Reader(".abc", 3),
    "file format 'abc': a suffix begins with a dot": lambda: Reader("abc", len),
    r"write is called as write\(case, path\), and takes \(case\)": lambda: Reader(".abc", len, lambda case: None),
    "beside = '.raw' must be a tuple": lambda: Companion(".abc", lambda case, path: None, ".raw"),
    "'' is not a name": lambda: Analysis("", abs),
    "must be a name of Python": lambda: Analysis("my analysis", abs),
    "must be a function or 'module:name'": lambda: Analysis("mine", "my_module.function"),
    "integrator 'mine': Method lacks advance, restart": lambda: Integrator("mine", Method),
    r"sweep is called as sweep\(replay, run, objectives, weights, rule\)": lambda: Adjoint("mine", lambda tape: None),
    "jumps = None is not the name of a jump rule": lambda: Adjoint("mine", "my_module:Sweep", jumps=None),
    "exact = 'no' must be True or False": lambda: Adjoint("mine", "my_module:Sweep", exact="no"),
    "has no method 'step_transpose'": lambda: JumpRule("mine", Rule()),
    "give an object of it": lambda: JumpRule("mine", Rule),
    "folder = 3 is not a path": lambda: Cases("mine", 3),
    "fields = 'at' must be a tuple": lambda: ObjectiveKind("mine", lambda table, quantity: None, "at"),
    "is not a click command": lambda: Command.of("hello", abs),
    "None is not a name": lambda: Command.of(abs),
    "is not a class that is derived from gridcore.Device": lambda: DeviceClass.of(int),
    "the fields are cls": lambda: DeviceClass.of("Abacus", Abacus),
}


@pytest.mark.parametrize("message", WRONG)
def test_a_record_is_checked_when_it_is_made(message):
    with pytest.raises(PluginError, match=message):
        WRONG[message]()


WORDS = "name attaches naming source check regulates declares id".split()


@pytest.mark.parametrize("word", WORDS)
def test_a_device_cannot_declare_a_word_of_the_contract(word):
    with pytest.raises(DeviceError, match=rf"Mine\.{word}: this name is taken"):
        type("Mine", (gc.Device,), {word: gc.Field("")})


# References -------------------------------------------------------------------------------------------


def test_a_reference_is_loaded_when_it_is_looked_up_and_shows_what_it_names():
    from gridcore_tsa.sensitivities import tsa

    assert gc.analyses.tsa is tsa
    assert inspect.signature(gc.analyses.tsa) == inspect.signature(tsa)
    assert "Parameters" in inspect.getdoc(gc.analyses.tsa)


def test_every_reference_of_the_bundled_plugins_leads_somewhere():
    for kind in plugins.REGISTRIES:
        for name in kind:
            assert kind[name] is kind[name]


def test_a_device_by_reference_is_imported_when_a_case_has_it(tmp_path, monkeypatch):
    (tmp_path / "a_late_device.py").write_text(
        "import gridcore as gc\n\n\nclass Late(gc.Load):\n    def currents(s, bus):\n        return 0.0, 0.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    with registered(DeviceClass("a_late_device:Late")):
        assert "Late" in devices
        assert "Late" in list(devices)
        assert "a_late_device" not in sys.modules
        case = gc.load_case("wscc9")
        case.add("Late", bus=5, P0=0.0, Q0=0.0)
        assert gc.build(case).layout.instances[-1].model == "Late"
    assert sys.modules.pop("a_late_device").Late is not None


def test_a_case_imports_the_devices_that_it_has_and_no_others():
    code = ("import sys, gridcore as gc; gc.build('kundur'); "
            "print(*(name for name in sys.modules if name.startswith('gridcore_devices.')))")
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "gridcore_devices.machines.genrou" in loaded
    assert not {"gridcore_devices.machines.gensal", "gridcore_devices.exciters.esac6a"} & set(loaded)


@pytest.mark.parametrize("reference", ["gridcore_devices:NONE", "gridcore:build"])
def test_a_reference_to_what_is_no_device_names_it(reference):
    with registered(DeviceClass(reference)), pytest.raises(PluginError, match=f"device '{reference.split(':')[1]}'"):
        devices[reference.split(":")[1]]


@pytest.mark.parametrize("reference", ["no_such_module:f", "gridcore:no_such_name"])
def test_a_reference_that_leads_nowhere_names_its_record(reference):
    with registered(Analysis("lost", reference)):
        assert "lost" in list(analyses)
        with pytest.raises(PluginError, match=f"analysis 'lost': '{reference}' cannot be loaded: .*no_such"):
            analyses["lost"]


# For a session ----------------------------------------------------------------------------------------


@pytest.fixture
def session():
    with registered():  # what is registered within it is forgotten
        yield


def test_a_class_is_registered_for_the_session_and_again_when_it_changes(session):
    assert gc.register(Abacus) is Abacus
    assert devices["Abacus"] is Abacus
    assert devices.origin("Abacus") == "this session (gc.register)"
    again = gc.register(type("Abacus", (Abacus,), {}))
    assert devices["Abacus"] is again

    @gc.register
    class Decorated(gc.Device):
        """Nothing."""

    assert gc.Record("Decorated", {}).device is Decorated


def test_a_plugins_name_is_not_taken_away_but_within_a_block(session):
    taken = type("Line", (gc.Device,), {})
    with pytest.raises(PluginError, match=r"device 'Line' is registered already, by devices \(gridcore"):
        gc.register(Abacus, taken)
    assert "Abacus" not in devices  # all or nothing
    line = devices["Line"]
    with gc.registered(taken, Analysis("twice", lambda x: 2 * x), Reader(".two", len)):
        assert devices["Line"] is taken
        assert gc.analyses.twice(3) == 6
        assert ".two" in readers
        with gc.registered(Abacus):
            assert "Abacus" in devices
        assert "Abacus" not in devices
    assert devices["Line"] is line
    assert not hasattr(gc.analyses, "twice")


def test_a_record_of_a_class_that_is_not_registered_says_how_to():
    case = gc.Case("one")
    with pytest.raises(CaseError, match=r"unknown device 'Abacus'.*gc\.register\(Abacus\)"):
        assert case.add(Abacus()).device
    with pytest.raises(CaseError) as caught:
        assert gc.Record("Lien", {}, "case.toml", "Lien row 1").device
    assert "register" not in str(caught.value)  # a misspelt row of a file


def test_records_can_be_pickled():
    record = analyses["tsa"]
    assert pickle.loads(pickle.dumps(record)) == record


# Hooks ------------------------------------------------------------------------------------------------


def test_wrappers_order_and_arguments_are_those_of_pluggy(install):
    install("first", """
        @hookimpl
        def register_analyses(register):
            register("second", abs)
    """)
    install("wrapping", """
        @hookimpl(wrapper=True)
        def register_analyses(register):
            register("before", abs)
            result = yield
            register("after", abs)
            return result
    """)
    install("last", """
        called = []

        @hookimpl(tryfirst=True)
        def register_analyses():
            called.append(True)

        @hookimpl(tryfirst=True)
        def register_readers(register):
            register(".first", len)

        @hookimpl(trylast=True)
        def register_companions(register):
            register(".last", lambda case, path: None)
    """)
    names = list(analyses)
    assert (names[0], names[-1]) == ("before", "after")
    assert "second" in names
    assert analyses.origin("after") == "wrapping (wrapping 1.5)"
    assert analyses.origin("second") == "first (first 1.5)"
    import last

    assert last.called == [True]
    assert next(iter(readers)) == ".first"
    assert list(plugins.companions)[-1] == ".last"


@pytest.mark.parametrize("place", ["before", "after"])
def test_a_wrapper_that_fails_registers_nothing_and_stops_nobody(install, place):
    lines = {"before": ["register('half', abs)", "pass"], "after": ["pass", "register('half', abs)"]}[place]
    failing = {"before": ["1 / 0", "pass"], "after": ["pass", "1 / 0"]}[place]
    install("wrapping", f"""
        @hookimpl(wrapper=True)
        def register_analyses(register):
            {lines[0]}; {failing[0]}
            result = yield
            {lines[1]}; {failing[1]}
            return result
    """)
    with pytest.warns(PluginWarning, match=r"wrapping \(wrapping 1.5\) is skipped: ZeroDivisionError"):
        assert "half" not in analyses
    assert "tsa" in analyses


def test_a_plugin_that_fails_half_way_registers_nothing_of_that_hook(install):
    install("half", """
        @hookimpl
        def register_analyses(register):
            register("good", abs)
            register("bad", function=abs, nmae="bad")

        @hookimpl
        def register_readers(register):
            register(".half", len)
    """)
    with pytest.warns(PluginWarning, match=r"half \(half 1.5\) is skipped: PluginError: .* 'nmae'; did you mean name"):
        assert "good" not in analyses
    assert ".half" in readers


def test_of_a_plugins_devices_only_the_faulty_one_is_skipped(install):
    install("workshop", """
        class Good(gc.Device):
            "Well."
            x = gc.Param("", 1.0)

        class Bad(gc.Device):
            "It declares a word of the contract."
            name = gc.Field("")

        class Worse(Bad):
            "It inherits it."

        @hookimpl
        def register_devices(register):
            for device in (Bad, Good, Worse):
                register(device)
    """)
    with pytest.warns(PluginWarning) as told:
        assert devices["Good"].__name__ == "Good"
    words = [str(warning.message) for warning in told]
    assert [w for w in words if "workshop (workshop 1.5)" in w and "Bad.name: this name is taken" in w]
    assert [w for w in words if "Worse.name: this name is taken" in w]
    assert "Bad" not in devices
    assert "Worse" not in devices


def test_a_plugin_for_another_version_of_the_contract_is_skipped(install):
    hook = """
        gridcore_api = {}

        @hookimpl
        def register_analyses(register):
            register("of{}", abs)
    """
    install("older", hook.format(0, 0))
    install("fitting", hook.format(registry.API, 1))
    with pytest.warns(PluginWarning, match=r"older \(older 1.5\) is skipped: .*version 0 .* has version 1"):
        assert "of1" in analyses
    assert "of0" not in analyses


CLAIM = """
    @hookimpl
    def register_analyses(register):
        register("same", {})
"""


def test_of_two_plugins_for_one_name_the_user_disables_one(install, monkeypatch):
    install("first-claim", CLAIM.format("abs"))
    install("second-claim", CLAIM.format("len"))
    with pytest.raises(PluginError, match=r"registered twice: by first_claim .* by second_claim .*GRIDCORE_DISABLE"):
        analyses["same"]
    monkeypatch.setenv("GRIDCORE_DISABLE", "first_claim")
    registry.reload()
    with warnings.catch_warnings():
        warnings.simplefilter("error", PluginWarning)
        assert gc.analyses.same is len


def test_a_name_to_disable_that_no_plugin_has_is_told(install, monkeypatch):
    monkeypatch.setenv("GRIDCORE_DISABLE", "plott")
    with pytest.warns(PluginWarning, match="there is no plugin 'plott'; did you mean plot"):
        assert "plot" in analyses
