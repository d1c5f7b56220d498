"""The plugin surface: what a third party installs is found, named, kept apart, and never in the way.

A plugin here is a distribution as pip would leave it: a module beside a ``.dist-info`` folder on the path.
"""

from __future__ import annotations

import inspect
import re
import warnings
from pathlib import Path

import pytest
from distributions import distribution, python

import gridcore as gc
from gridcore.errors import PluginError, PluginWarning
from gridcore.registry import manager
from gridcore.registry import registries as plugins
from gridcore.registry.hookspecs import HOOKS

# The hooks, one by one ------------------------------------------------------------------------------

@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_is_documented(hook):
    page = (Path(__file__).parents[2] / "docs" / "plugins.md").read_text()
    assert f"`{hook}`" in page


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_is_exercised(hook):
    used = "\n".join(inspect.getsource(test) for name, test in globals().items() if name.startswith("test_register_"))
    assert f"def {hook}(" in used


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_has_one_registry(hook):
    assert [registry.hook for registry in plugins.REGISTRIES].count(hook) == 1


def test_register_devices_makes_a_class_usable_in_a_case(install):
    install("windmills", """
        class Windmill(gc.Source):
            "A constant current source."
            def currents(s, bus):
                return s.P0, 0.0

        @hookimpl
        def register_devices(register):
            register(Windmill)
    """)
    case = gc.Case("farm")
    record = case.add(gc.Record("Windmill", {"bus": 1, "P0": 0.3}))
    assert record.device.__name__ == "Windmill"
    assert plugins.devices.origin("Windmill") == "windmills (windmills 1.5)"


def test_register_integrators_makes_a_method_of_simulate(install):
    install("halving", """
        @hookimpl
        def register_integrators(register):
            from gridcore_theta import Theta

            class HalfSteps(Theta):
                name = "half-steps"

                def __init__(self, step, theta=0.5):
                    super().__init__(step / 2, theta)
                    calls.append(step)

            register("half-steps", HalfSteps)

        calls = []
    """)
    system = gc.build(infinite_bus())
    run = gc.simulate(system, t_end=0.1, step=0.05, method="half-steps", theta=1.0)
    import halving

    assert halving.calls == [0.05]
    assert run.t[-1] == pytest.approx(0.1)


def test_register_analyses_makes_a_function_of_gc_analyses(install):
    install("numerology", """
        @hookimpl
        def register_analyses(register):
            register("double", lambda x: 2 * x)
    """)
    assert gc.analyses.double(21) == 42
    assert "double" in dir(gc.analyses)


def test_register_readers_reads_and_writes_files_of_a_suffix(install, tmp_path):
    install("names-only", """
        def read(path):
            return gc.Case(path.read_text())

        def write(case, path):
            path.write_text(case.name)

        @hookimpl
        def register_readers(register):
            register(".name", read, write)
    """)
    gc.save_case(gc.Case("alpha"), tmp_path / "case.name")
    assert gc.load_case(tmp_path / "case.name").name == "alpha"


def test_register_companions_adds_what_a_second_file_says(install, tmp_path):
    install("ratings", """
        def extend(case, path, *, scale=1.0):
            case.base_mva = scale * float(path.read_text())

        @hookimpl
        def register_companions(register):
            register(".mva", extend, beside=(".toml",))
    """)
    (tmp_path / "a.toml").write_text('Bus = [{id = 1}]')
    (tmp_path / "b.mva").write_text("50")
    assert gc.load_case(tmp_path / "a.toml").base_mva == 100
    assert gc.load_case(tmp_path / "a.toml", tmp_path / "b.mva").base_mva == 50
    (tmp_path / "b.mva").rename(tmp_path / "a.MVA")
    assert gc.load_case(tmp_path / "a.toml", scale=3.0).base_mva == 150
    assert gc.load_case(tmp_path / "a.toml", alone=True).base_mva == 100
    with pytest.raises(gc.errors.CaseError, match="without an option 'scales'; did you mean scale"):
        gc.load_case(tmp_path / "a.toml", scales=3.0)
    with pytest.raises(gc.errors.CaseError, match="adds to a case and is none by itself"):
        gc.load_case(tmp_path / "a.MVA")
    with pytest.raises(gc.errors.CaseError, match=r"a\.xlsx: no format that adds to a case; there are: .*\.mva"):
        gc.load_case(tmp_path / "a.toml", tmp_path / "a.xlsx")


def test_register_adjoints_makes_a_method_of_adjoint_approximate_ones_with_the_exact_gradient_beside_them(install):
    install("halves", """
        from gridcore.sensitivity.adjoint import ReverseSweep

        class Half(ReverseSweep):
            def __init__(self, replay, run, objectives, weights, rule):
                super().__init__(replay, weights, rule)

            def run(self):
                super().run()
                self.X *= 0.5
                self.P *= 0.5

        @hookimpl
        def register_adjoints(register):
            register("half", Half, exact=False)
            register("half and called exact", Half, jumps="continuous")
    """)
    run = gc.simulate(gc.build("hiskens_pai"), 0.2, 0.001)
    end = gc.Terminal(lambda v: v["HP", "x1"])
    true, half, called = (gc.adjoint(run, end, "HP.p1", method=name)
                          for name in ("discrete", "half", "half and called exact"))
    assert half.item() == 0.5 * true.item()
    assert half.discrete.item() == true.item() != 0
    assert half.attrs == {"method": "half", "approximate": "yes", "discrepancy": 0.5}
    assert called.attrs == {"method": "half and called exact"}
    assert "discrete" not in called.coords
    by_rule = gc.adjoint(run, end, "HP.p1", jumps="continuous").item()
    assert called.item() == 0.5 * by_rule != half.item()
    with pytest.raises(gc.errors.CaseError, match=r"method = 'third' must be .*'half'"):
        gc.adjoint(run, end, "HP.p1", method="third")


def test_register_jump_rules_adds_a_rule_by_name(install):
    install("no-jumps", """
        class Still:
            moving = False

            def step(self, operator, dX, dP, dT0, dT1):
                return dX, dT1

            def step_transpose(self, operator, aX, aP, aT1):
                return aX, aT1, aT1

            def shift(self, replay, k):
                return None

        @hookimpl
        def register_jump_rules(register):
            register("none", Still())
    """)
    assert plugins.jump_rules["none"].rule.shift(None, 0) is None


def test_register_linear_solvers_adds_a_factory_by_name(install):
    install("dense", """
        class Dense:
            pass

        @hookimpl
        def register_linear_solvers(register):
            register("dense", Dense)
    """)
    assert type(plugins.linear_solvers["dense"].make()).__name__ == "Dense"


def test_register_cases_adds_a_folder_whose_cases_are_found_by_name(install, tmp_path):
    (tmp_path / "island").mkdir()
    (tmp_path / "island" / "case.toml").write_text('title = "An island"\nBus = [{id = 1}]')
    install("islands", """
        from pathlib import Path

        @hookimpl
        def register_cases(register):
            register("islands", Path(__file__).parent)
    """)
    assert gc.load_case("island").title == "An island"
    assert gc.load_case("wscc9").name == "wscc9"


def test_register_objective_kinds_and_shapes_serve_objective_files(install, tmp_path):
    install("peaks", """
        from gridcore_objectives import Density

        def start(table, quantity):
            density = table.density(quantity)
            return gc.At([table.number("at")], density.function, unit=density.unit)

        def double(table, quantity):
            key, factor = (quantity.device, quantity.name), table.number("factor", default=2.0)
            return Density(lambda v: factor * v[key], quantity.unit)

        @hookimpl
        def register_objective_kinds(register):
            register("start", start, ("at",), shaped=True)

        @hookimpl
        def register_objective_shapes(register):
            register("double", double, fields=("factor",))
    """)
    file = tmp_path / "o.toml"
    row = 'of = "BUS1.Vm"\nkind = "start"\nshape = "double"\nat = 0.05\n'
    file.write_text(f"[[objective]]\n{row}")
    system = gc.build(infinite_bus())
    objective, = gc.analyses.load_objectives(file, system)
    assert objective.name == "start double of BUS1.Vm"
    assert objective.value(gc.simulate(system, t_end=0.1, step=0.05)) == pytest.approx(2.0)
    file.write_text(f"[[objective]]\n{row}facto = 3\n")
    with pytest.raises(gc.errors.CaseError, match="the shape 'double' has no such field; did you mean factor"):
        gc.analyses.load_objectives(file, system)


def test_register_checks_warns_of_what_was_built_and_where_that_fails(install):
    install("nosy", """
        def look(system, Z, found):
            yield f"{len(system.layout.instances)} devices, {'at rest' if found else 'not at rest'}"

        @hookimpl
        def register_checks(register):
            register("nosy", look)
    """)
    with pytest.warns(gc.errors.DataWarning, match=r"^\d+ devices, at rest$"):
        gc.build(infinite_bus())
    case = gc.load_case("wscc9")
    case.set("LOAD5.P0", 50.0)
    with pytest.warns(gc.errors.DataWarning, match="devices, not at rest"), pytest.raises(gc.errors.PowerFlowError):
        gc.build(case)


def test_register_plots_draws_results_of_a_kind(install, tmp_path):
    install("ascii-art", """
        def draw(result, path, mark="*"):
            path.write_text(mark * result)

        @hookimpl
        def register_plots(register):
            register("number", draw)
    """)
    plugins.plots["number"].draw(3, tmp_path / "x.txt", mark="o")
    assert (tmp_path / "x.txt").read_text() == "ooo"
    with pytest.raises(PluginError, match="unknown plot 'numbr'; did you mean number"):
        plugins.plots["numbr"]


def test_register_exporters_writes_runs_of_a_suffix_also_from_the_command_line(install, tmp_path):
    install("words", """
        def write(run, path):
            path.write_text(f"{len(run.t)} points")

        @hookimpl
        def register_exporters(register):
            register(".words", write)
    """)
    from click.testing import CliRunner

    from gridcore.commands.main import gridcore

    run = gc.simulate(gc.build(infinite_bus()), t_end=0.1, step=0.05)
    for name in ("run.words", "run.nc", "run.csv"):
        run.save(tmp_path / name)
    assert (tmp_path / "run.words").read_text() == "3 points"
    assert (tmp_path / "run.csv").read_text().startswith("time,")
    assert gc.load_run(tmp_path / "run.nc").t.tolist() == run.t.tolist()
    with pytest.raises(gc.errors.GridcoreError, match=r"in this format; there are: \.csv, \.html, \.nc, \.words"):
        run.save(tmp_path / "run.wav")
    asked = [str(tmp_path / name) for name in ("run.nc", "again.words")]
    assert CliRunner().invoke(gridcore, ["export", *asked]).output == f"{asked[1]}\n"
    assert (tmp_path / "again.words").read_text() == "3 points"


def test_a_format_of_runs_is_read_by_its_own_function_or_says_that_it_cannot_be_read(tmp_path):
    run = gc.simulate(gc.build(infinite_bus()), t_end=0.1, step=0.05)
    record = plugins.records.Exporter
    with gc.registered(record(".both", lambda run, path: None, lambda path: (run, path)),
                       record(".out", lambda run, path: None)):
        assert gc.load_run(str(tmp_path / "x.BOTH")) == (run, tmp_path / "x.BOTH")
        with pytest.raises(gc.errors.GridcoreError, match=r"x\.out: runs in this format can be written only; "
                                                          r"formats that can be read: \.both, \.nc$"):
            gc.load_run(tmp_path / "x.out")
    with pytest.raises(gc.errors.GridcoreError, match=r"is not a run of gridcore; formats that can be read: \.nc$"):
        gc.load_run(tmp_path / "x.both")


def test_register_commands_adds_a_verb_to_the_command_line(install):
    install("greetings", """
        import click

        @click.command()
        def hello():
            "Say hello."
            click.echo("hello, grid")

        @hookimpl
        def register_commands(register):
            register(hello)
    """)
    from click.testing import CliRunner

    from gridcore.commands.main import gridcore

    assert CliRunner().invoke(gridcore, ["hello"]).output == "hello, grid\n"
    assert "Say hello." in CliRunner().invoke(gridcore, ["--help"]).output


def infinite_bus() -> gc.Case:
    case = gc.Case("two buses")
    case.add(gc.Record("Bus", {"id": 1, "kv": 20.0}))
    case.add(gc.Record("InfiniteBus", {"bus": 1, "control": "slack"}))
    return case


# Names ----------------------------------------------------------------------------------------------

ANALYSIS = """
    @hookimpl
    def register_analyses(register):
        register("same", abs)
"""


def test_a_name_registered_twice_is_refused_naming_both_distributions(install):
    install("first-claim", ANALYSIS)
    install("second-claim", ANALYSIS)
    with pytest.raises(PluginError, match=r"analysis 'same' .* first_claim \(first-claim 1.5\) .* "
                                          r"second_claim \(second-claim 1.5\)"):
        plugins.analyses["same"]


def test_an_unknown_name_offers_the_nearest(install):
    install("first-claim", ANALYSIS)
    with pytest.raises(PluginError, match="unknown analysis 'sane'; did you mean same"):
        plugins.analyses["sane"]
    assert not hasattr(gc.analyses, "sane")


# Failures -------------------------------------------------------------------------------------------

BROKEN = {
    "import": "import a_module_that_is_nowhere",
    "error": "raise RuntimeError('no licence')",
    "argument": """
        @hookimpl
        def register_analyses(add):
            pass
    """,
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_plugin_that_fails_to_load_is_reported_and_skipped(install, how):
    install("broken", BROKEN[how])
    install("whole", ANALYSIS)
    with pytest.warns(PluginWarning, match=r"broken \(broken 1.5\) is skipped"):
        assert gc.analyses.same is abs


def test_a_plugin_that_fails_while_it_registers_is_reported_and_skipped(install):
    install("broken", """
        @hookimpl
        def register_analyses(register):
            import a_module_that_is_nowhere
    """)
    install("whole", ANALYSIS)
    with pytest.warns(PluginWarning, match=r"broken \(broken 1.5\) is skipped: ModuleNotFoundError"):
        assert gc.analyses.same is abs


def test_a_misspelt_hook_is_reported(install):
    install("typo", """
        @hookimpl
        def register_analysis(register):
            pass
    """)
    with pytest.warns(PluginWarning, match=r"typo \(typo 1.5\) .* unknown hook 'register_analysis'"):
        manager.manager()


def test_built_in_plugins_load_without_a_warning(install):
    with warnings.catch_warnings():
        warnings.simplefilter("error", PluginWarning)
        for registry in plugins.REGISTRIES:
            list(registry)


# Laziness, and seeing what happens ------------------------------------------------------------------

NOISY = """
    print("loaded")

    @hookimpl
    def register_analyses(register):
        register("noisy", abs)
"""


def test_importing_gridcore_and_adding_records_loads_no_plugin(tmp_path):
    distribution(tmp_path, "noisy", NOISY)
    quiet = python("""
        import gridcore as gc
        gc.Case("empty").add(gc.Record("Bus", {"id": 1}))
        gc.hookimpl, gc.Device, gc.analyses, gc.load_case
    """, tmp_path)
    assert "loaded" not in quiet.stdout
    assert "loaded" in python("import gridcore as gc; gc.analyses.noisy", tmp_path).stdout


def test_the_trace_variable_shows_who_is_called_and_what_it_registers(tmp_path):
    distribution(tmp_path, "noisy", NOISY)
    code = "import gridcore as gc; gc.analyses.noisy"
    lines = python(code, tmp_path, **{manager.TRACE: "1"}).stderr.splitlines()
    for pattern in (r"loading 'noisy' \(noisy 1.5\)", r"register_analyses: noisy \(noisy 1.5\)",
                    r"register_analyses: +analysis 'noisy'"):
        assert any(re.search(pattern, line) for line in lines), pattern
    assert not python(code, tmp_path).stderr
