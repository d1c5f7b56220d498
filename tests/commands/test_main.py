"""The command line: verbs, one-line errors with exit code 2, nothing heavy before it is needed."""

from __future__ import annotations

import errno
import io
import itertools
import os
import pty
import select
import subprocess
import sys
import time

import numpy as np
import pytest
from click.testing import CliRunner
from command_line import SMALL, refused

import gridcore as gc
from gridcore.commands import Progress
from gridcore.commands.main import gridcore
from gridcore.registry import registries as plugins


@pytest.fixture
def call(tmp_path, monkeypatch):
    """``call("run", "small.toml")`` in an empty folder that holds small.toml."""
    (tmp_path / "small.toml").write_text(SMALL)
    monkeypatch.chdir(tmp_path)
    return lambda *args: CliRunner().invoke(gridcore, [str(a) for a in args])


# Bad input: the list of issue 2 -----------------------------------------------------------------------

BAD = {
    "unknown device": ("Classical = [", "Clasical = [", "Clasical row 1 (line 13): unknown device 'Clasical'; did you "
                       "mean Classical?"),
    "unknown bus": ("bus2 = 2", "bus2 = 7", "Line row 1 (line 7): field 'bus2': there is no bus 'BUS7'"),
    "unknown field": ("H = 3.5", "h = 3.5", "Classical row 1 (line 13): field 'h': a Classical has no such field; "
                      "did you mean H?"),
    "unknown unit": ("P0 = 0.5", "P0 = '50 MWatt'", "ZIP row 1 (line 10): field 'P0': unit 'MWatt' is not understood"),
    "missing value": (", x = 0.1", "", "Line row 1 (line 7): field 'x': missing: series reactance (pu)"),
    "non-numeric value": ("x = 0.1", "x = 'much'", "Line row 1 (line 7): field 'x': 'much' is not a number"),
    "duplicate id": ("id = 2", "id = 1", "Bus row 2 (line 4): field 'id': 'BUS1' is already the id of Bus row 1 "
                     "(line 3)"),
    "negative inertia": ("H = 3.5", "H = -3.5", "Classical row 1 (line 13): field 'H': -3.5 must be greater than 0"),
    "zero-impedance line": ("x = 0.1", "x = 0", "Line row 1 (line 7): r and x are both zero"),
    "no slack": ('"slack"', '"PV"', "Bus row 1 (line 3): no slack bus in the island of BUS1, BUS2"),
    "diverging power flow": ("P0 = 0.5", "P0 = 50", "Bus row 2 (line 4): the power flow diverges"),
}


@pytest.mark.parametrize("verb", ["run", "pf"])
@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_one_line_with_file_row_and_field(call, tmp_path, verb, what):
    old, new, said = BAD[what]
    assert SMALL.count(old) == 1
    (tmp_path / "bad.toml").write_text(SMALL.replace(old, new))
    assert refused(call(verb, "bad.toml")).startswith(f"bad.toml: {said}")
    assert {p.name for p in tmp_path.iterdir()} == {"small.toml", "bad.toml"}


@pytest.mark.parametrize("code", [
    "__import__('pathlib').Path('executed').touch()", "$(touch executed)", "`touch executed`", "{touch}", "=1+1"])
@pytest.mark.parametrize("place", ["x = 0.1", "id = 2", 'control = "slack"', 'name = "small"'])
def test_nothing_in_a_case_file_is_executed(call, tmp_path, code, place):
    key = place.partition(" =")[0]
    (tmp_path / "bad.toml").write_text(SMALL.replace(place, f'{key} = "{code}"'))
    call("run", "bad.toml", "--t-end", 0.01, "--quiet")
    assert not [*tmp_path.rglob("executed")]


def test_a_matpower_file_that_computes_is_not_executed(call, tmp_path):
    (tmp_path / "bad.m").write_text("function mpc = bad\nsystem('touch executed');\nmpc.baseMVA = 100;\n")
    refused(call("run", "bad.m"))
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize(("args", "said"), [
    (["run", "wsc9"], "there is no case 'wsc9', shipped or as a file; did you mean wscc9"),
    (["run", "none.toml"], "none.toml: there is no such file"),
    (["run"], "Missing argument 'CASE'"),
    (["runn", "small.toml"], "there is no verb 'runn'; did you mean run?"),
    (["run", "small.toml", "--t-end", "soon"], "Invalid value for '--t-end': 'soon' is neither a number of "
     "seconds nor has it a unit, as 500ms"),
    (["run", "small.toml", "--t-end", "5 cycles"], "Invalid value for '--t-end': '5 cycles' is neither a number"),
    (["run", "small.toml", "--t-end", "-1"], "t_end = -1.0 must be a number after t0"),
    (["run", "small.toml", "--step", "0"], "step = 0.0 must be"),
    (["run", "small.toml", "--step", "1 mm"], "Invalid value for '--step': '1 mm' is neither a number of seconds nor"),
    (["run", "small.toml", "--step", "0.1,0.2"], "Invalid value for '--step': '0.1,0.2' is neither"),
    (["run", "small.toml", "--step", "0.1,0.2:-1"], "step = -1.0 must be"),
    (["run", "small.toml", "--method", "thetha"], "unknown integrator 'thetha'; did you mean theta?"),
    (["run", "small.toml", "--theta", "2"], "theta = 2.0 must be from 0.5"),
    (["run", "small.toml", "--set", "GEN1.H"], "Invalid value for '--set': 'GEN1.H' is not DEVICE.FIELD=VALUE"),
    (["run", "small.toml", "--set", "GEN1.HH=3"], "small.toml: Classical row 1 (line 13): field 'HH'"),
    (["run", "small.toml", "--set", "GEN7.H=3"], "case 'small' has no 'GEN7'; did you mean GEN1?"),
    (["doctor", "Lin"], "unknown device 'Lin'; did you mean Line?"),
    (["plot", "none.nc"], "none.nc: there is no such file"),
    (["plot", "small.toml"], "small.toml: is not a run of gridcore"),
    (["convert", "small.toml", "small.xyz"], "small.xyz: no reader for this format; there are: "),
    (["pf", "hiskens_pai"], "case 'hiskens_pai' has no buses"),
])
def test_a_mistake_on_the_command_line_is_one_line(call, args, said):
    assert said in refused(call(*args))


def test_without_a_verb_the_help_is_shown(call):
    result = call()
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == call("--help").stdout
    assert result.stdout.startswith("Usage: gridcore [OPTIONS] COMMAND")


def test_debug_shows_where_an_error_comes_from(call, monkeypatch):
    monkeypatch.setenv("GRIDCORE_DEBUG", "1")
    assert isinstance(call("run", "wsc9").exception, gc.GridcoreError)


# What was computed ----------------------------------------------------------------------------------

def test_a_run_that_fails_keeps_what_it_had_and_says_where(call, tmp_path):
    (tmp_path / "small.toml").write_text(SMALL + 'BranchTrip = [{branch = "LINE1-2", t = 0.25}]\n')
    said = refused(call("run", "small.toml", "--out", "kept"), code=1)
    assert "island without a voltage source: BUS2" in said
    assert said.endswith("what was computed up to 0.25 s is in kept/small.nc")
    assert gc.load_run(tmp_path / "kept" / "small.nc").t[-1] == 0.25
    assert call("run", "small.toml", "--deenergise").exit_code == 0


def interrupted(folder, *arguments, by="SIGINT", first=""):
    """A run to 10^6 s, interrupted once it is under way: what it gives and says, and its exit code."""
    code = (first +
            "import sys, threading, os, signal\nfrom gridcore.integrate import driver\nwas = driver.Driver.run\n"
            "def run(self, progress):\n"
            "    threading.Timer(0.3, os.kill, (os.getpid(), signal." + by + ")).start()\n    was(self, progress)\n"
            "driver.Driver.run = run\nfrom gridcore.commands.main import main\n"
            "sys.argv = ['gridcore', *sys.argv[1:]]\nmain()")
    return subprocess.run([sys.executable, "-c", code, *arguments, "--t-end", "1e6", "--step", "10"], cwd=folder,
                          capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("verb", [("run",), ("grad", "--objective", "o.toml", "--wrt", "GEN1.H")])
def test_a_run_that_is_interrupted_keeps_what_it_had(call, tmp_path, verb):
    (tmp_path / "o.toml").write_text('[[objective]]\nkind = "terminal"\nof = "GEN1.omega"\n')
    shown = interrupted(tmp_path, verb[0], "small.toml", *verb[1:])
    assert shown.returncode == 130
    assert shown.stdout == ""
    kept = gc.load_run(tmp_path / "small.nc")
    t = kept.t[-1]
    assert 0 < t < 1e6
    assert shown.stderr == f"interrupted: the run was stopped; what was computed up to {t:.6g} s is in small.nc\n"
    again = gc.simulate(gc.build(str(tmp_path / "small.toml")), t_end=t, step=10.0)
    assert np.array_equal(kept.X, again.X)


@pytest.mark.parametrize(("by", "code"), [("SIGTERM", 143), ("SIGHUP", 129)])
def test_other_signals_stop_a_run_as_an_interrupt_does(call, tmp_path, by, code):
    shown = interrupted(tmp_path, "run", "small.toml", by=by)
    t = gc.load_run(tmp_path / "small.nc").t[-1]
    assert 0 < t < 1e6
    assert shown.stderr == f"interrupted: the run was stopped; what was computed up to {t:.6g} s is in small.nc\n"
    assert shown.returncode == code


@pytest.mark.parametrize(("signals", "code", "there"), [
    (["SIGINT"], 130, True), (["SIGTERM"], 143, True), (["SIGTERM", "SIGHUP"], 143, True),
    (["SIGHUP", "SIGINT"], 130, False), (["SIGINT", "SIGINT"], 130, False), (["SIGTERM", "SIGTERM"], 143, False)])
def test_a_run_that_is_being_saved_is_saved_unless_one_insists(call, tmp_path, signals, code, there):
    program = ("import os, sys, signal, time\nfrom gridcore import Run\nwas = Run.stretches\n"
               "def write(*arguments):\n"
               "    held = signal.getsignal(signal.SIGINT).__self__\n"
               f"    for each in {signals}:\n        os.kill(os.getpid(), getattr(signal, each))\n"
               "        while not (held.waiting or held.insisted):\n            time.sleep(1e-3)\n"  # of another thread
               "    was(*arguments)\nRun.stretches = write\nfrom gridcore.commands.main import main\n"
               "sys.argv = ['gridcore', 'run', 'small.toml', '--t-end', '0.1']\nmain()")
    shown = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (shown.returncode, shown.stderr.strip()) == (code, "interrupted")
    assert [path.name for path in tmp_path.iterdir() if ".nc" in path.name] == ["small.nc"] * there
    assert not there or gc.load_run(tmp_path / "small.nc").t[-1] == 0.1


def test_results_that_cannot_be_written_are_one_error(call, tmp_path):
    (tmp_path / "taken").write_text("a file, not a folder")
    assert "taken/small.nc: cannot be written" in refused(call("run", "small.toml", "--t-end", 0.1, "--out", "taken"))


# Plugins' verbs ----------------------------------------------------------------------------------------

def test_plot_draws_a_run_that_was_kept(call, tmp_path):
    call("run", "small.toml", "--t-end", 0.1, "--quiet")
    assert call("plot", "small.nc").stdout == "small.png\n"
    assert call("plot", "small.nc", "--to", "figure.svg").exit_code == 0
    assert (tmp_path / "small.png").stat().st_size > 10_000
    assert "<svg" in (tmp_path / "figure.svg").read_text()


def test_every_verb_explains_itself(call):
    for verb in plugins.commands:
        result = call(verb, "--help")
        assert result.exit_code == 0
        assert "Usage: gridcore" in result.stdout
        assert plugins.commands[verb].command.get_short_help_str()


# Weight -------------------------------------------------------------------------------------------------

def python(code: str, **more) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, **more)


def test_help_is_light():
    shown = python("import sys\nfrom gridcore.commands.main import main\nsys.argv = ['gridcore', '--help']\n"
                   "try:\n    main()\nexcept SystemExit as end:\n    print(end.code, *sys.modules)")
    assert shown.returncode == 0, shown.stderr
    assert "Usage: gridcore" in shown.stdout
    code, *loaded = shown.stdout.splitlines()[-1].split()
    assert code == "0"
    assert not {"casadi", "matplotlib", "xarray", "h5netcdf", "h5py", "pandas", "rich"} & set(loaded)


def test_a_run_without_figure_loads_what_it_needs(tmp_path):
    """Neither figures nor tables; nor masked arrays, which numpy loads to make some sets, and scipy for itself."""
    (tmp_path / "small.toml").write_text(SMALL)
    shown = python("import sys\nfrom gridcore.commands.main import main\n"
                   "sys.argv = ['gridcore', 'run', 'small.toml', '--t-end', '0.02']\n"
                   "try:\n    main()\nexcept SystemExit as end:\n    print(end.code, *sys.modules)", cwd=tmp_path)
    code, *loaded = shown.stdout.splitlines()[-1].split()
    assert code == "0"
    assert not {"matplotlib", "xarray", "pandas", "rich", "h5netcdf", "gridcore_converters.dc.vsc"} & set(loaded)
    assert "numpy.ma" not in loaded or "scipy" in loaded


def test_no_cycle_is_looked_for_at_the_end_of_a_verb():
    """What a process leaves goes with it."""
    shown = python("import atexit, gc, sys\nfrom gridcore.commands.main import main\nsys.argv = ['gridcore', 'cases']\n"
                   "atexit.register(lambda: print(gc.get_freeze_count() > 9999, len(gc.get_objects()) < 999))\nmain()")
    assert shown.stdout.splitlines()[-1] == "True True"


def test_whoever_stops_reading_gets_no_traceback():
    shown = subprocess.run(f"{sys.executable} -m gridcore plugins | head -1", shell=True, capture_output=True,
                           text=True, check=False)
    assert shown.stdout == "device\n"
    assert shown.stderr == ""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
@pytest.mark.parametrize("verb", [("plugins",), ("--help",), ("describe", "GENROU"), ("new-device", "Mine")])
def test_output_that_there_is_no_room_for_is_one_error(tmp_path, verb):
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, "-m", "gridcore", *verb], stdout=full, stderr=subprocess.PIPE, text=True,
                              cwd=tmp_path, check=False)
    assert (done.returncode, done.stderr) == (1, "error: [Errno 28] No space left on device\n")


def test_a_file_of_a_verb_that_cannot_be_written_is_one_error(call, monkeypatch):
    def write(path, *_args, **_named):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    monkeypatch.setattr("pathlib.Path.write_text", write)
    assert refused(call("new-device", "Mine")) == "gridcore-mine: cannot be written: No space left on device"


# Progress -----------------------------------------------------------------------------------------------

def on_a_terminal(monkeypatch, patience: float, shown: bool, **more) -> str:
    """What a progress bar writes to a terminal until something is `shown`, or in a third of a second."""
    theirs, ours = pty.openpty()
    monkeypatch.setattr("gridcore.commands.progress.PATIENCE", patience)
    monkeypatch.setenv("TERM", "xterm")
    with os.fdopen(ours, "w") as terminal, monkeypatch.context() as m:
        m.setattr(sys, "stderr", terminal)
        with Progress("simulating", 10.0, **more) as tell:
            for step in itertools.count(1):
                time.sleep(0.03)
                tell(min(float(step), 9.0))
                if select.select([theirs], [], [], 0.0)[0] if shown else step == 10:
                    break
        terminal.write("#")
        terminal.flush()
        written = os.read(theirs, 100_000).decode()
    os.close(theirs)
    return written


def test_progress_is_shown_on_a_terminal_once_it_takes_long(monkeypatch):
    written = on_a_terminal(monkeypatch, patience=0.1, shown=True)
    assert "simulating" in written
    assert "%" in written


def test_progress_of_what_is_counted_has_count_and_rate(monkeypatch):
    written = on_a_terminal(monkeypatch, patience=0.1, shown=True, unit="runs")
    assert "of 10 runs" in written
    assert "/s" in written


def test_progress_of_what_is_short_or_asked_to_be_quiet_is_not_shown(monkeypatch):
    assert on_a_terminal(monkeypatch, patience=600.0, shown=False) == "#"
    assert on_a_terminal(monkeypatch, patience=0.1, shown=False, quiet=True) == "#"


def test_progress_is_not_shown_where_there_is_no_terminal(capsys, monkeypatch):
    monkeypatch.setattr("gridcore.commands.progress.PATIENCE", 0.01)
    with Progress("simulating", 1.0) as tell:
        time.sleep(0.1)
        tell(1.0)
    assert capsys.readouterr() == ("", "")


class Terminal(io.StringIO):
    """One that may be gone: what is written to it is an error then."""

    gone = False

    def isatty(self) -> bool:
        return True

    def flush(self) -> None:
        if self.gone:
            raise OSError(errno.EIO, os.strerror(errno.EIO))


def test_what_is_raised_when_a_terminal_has_been_closed_is_what_was_raised(monkeypatch):
    monkeypatch.setattr("gridcore.commands.progress.PATIENCE", 0.01)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())

    def interrupted() -> None:
        with Progress("simulating", 1.0) as tell:
            while terminal.getvalue().count("simulating") < 3:  # it is drawn again and again
                tell(0.5)
            terminal.gone = True
            raise KeyboardInterrupt("with what there is")

    with pytest.raises(KeyboardInterrupt, match="with what there is"):
        interrupted()


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_an_error_that_no_terminal_can_show_is_still_an_exit_code(unbuffered):
    theirs, ours = pty.openpty()
    command = [sys.executable, "-c", "import sys; sys.stdin.read(); from gridcore.commands.main import main; main()"]
    with subprocess.Popen([*command, "run", "nosuch"], stdin=subprocess.PIPE, stderr=ours,
                          env={**os.environ, "PYTHONUNBUFFERED": unbuffered}) as verb:
        os.close(ours)
        os.close(theirs)
        verb.communicate()
    assert verb.returncode == 2


def test_options_of_the_method(call):
    assert call("run", "small.toml", "--t-end", "0.1", "--option", "theta=0.7", "--quiet").exit_code == 0
    assert gc.load_run("small.nc").settings["theta"] == 0.7
    said = refused(call("run", "small.toml", "--t-end", "0.1", "--option", "tehta=0.7", "--quiet"))
    assert said == "method 'theta' has no option 'tehta'; did you mean theta?"
    assert refused(call("run", "small.toml", "--option", "theta", "--quiet")).endswith("'theta' is not NAME=VALUE")
    assert "theta = 'half'" in refused(call("run", "small.toml", "--option", "theta=half", "--quiet"))
    assert "'memory' is no option of a method" in refused(call("run", "small.toml", "--option", "memory=3", "--quiet"))


def test_a_run_whose_shell_ignores_interrupts_stops_for_other_signals(call, tmp_path):
    """As one that a script starts in the background."""
    shown = interrupted(tmp_path, "run", "small.toml", by="SIGTERM",
                        first="import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n")
    t = gc.load_run(tmp_path / "small.nc").t[-1]
    assert 0 < t < 1e6
    assert shown.returncode == 143
