"""The report in headless Chromium: it renders, zooms and paints, asks no network, and complains of nothing."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

import gridcore as gc

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--window-size=1280,1000")

pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="there is no Chromium with its driver")


@pytest.fixture(scope="module")
def run():
    return gc.simulate(gc.build("ieee39"), t_end=5.0)


@pytest.fixture(scope="module")
def browser(run, tmp_path_factory):
    """The page of ieee39, opened and at rest."""
    webdriver = pytest.importorskip("selenium.webdriver")
    from selenium.webdriver.support.ui import WebDriverWait

    folder = tmp_path_factory.mktemp("report")
    run.save(folder / "r.html", objectives=[gc.Terminal(lambda v: v["GEN34", "omega"], name="end")],
             wrt=["GEN*.H"])
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={folder / 'profile'}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=DRIVER))
    try:
        driver.get((folder / "r.html").as_uri())
        WebDriverWait(driver, 60).until(lambda d: d.execute_script(
            "return typeof Bokeh != 'undefined' && Bokeh.documents.length == 1 && Bokeh.documents[0].is_idle"))
        yield driver
        complaints = [entry for entry in driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
        assert not complaints
    finally:
        driver.quit()


def model(browser, name, expression):
    """What an expression of the model ``m`` of this name gives."""
    return browser.execute_script(f"const m = Bokeh.documents[0].get_model_by_name({name!r}); return {expression}")


def column(browser, source, name):
    """A column of what the diagram is drawn from."""
    return model(browser, source, f"Array.from(m.data[{name!r}])")


def test_every_section_is_there_and_every_figure_is_drawn(browser):
    names = [e.text for e in browser.find_elements("css selector", "nav a")]
    assert names == ["summary", "one-line diagram", "time series", "operating point", "modes", "sensitivities",
                     "provenance"]
    drawn = browser.execute_script("""
        const pixels = (node) => [...node.querySelectorAll("*")].flatMap(
            (e) => (e.tagName == "CANVAS" ? [e] : []).concat(e.shadowRoot ? pixels(e.shadowRoot) : []))
        return [...document.querySelectorAll("section")].map((s) => [s.id, pixels(s).filter((c) => {
            const {data} = c.getContext("2d").getImageData(0, 0, c.width, c.height)
            return c.width > 100 && new Set(new Uint32Array(data.buffer)).size > 20
        }).length])""")
    assert {id: count for id, count in drawn if count} == {
        "one-line-diagram": 1, "time-series": 5, "modes": 1, "sensitivities": 1}


def test_it_asks_no_network(browser):
    asked = browser.execute_script("return performance.getEntriesByType('resource').map((e) => e.name)")
    assert not [name for name in asked if not name.startswith(("data:", "blob:"))]


def test_the_wheel_zooms_all_panels_together_and_reset_goes_back(browser):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.actions.wheel_input import ScrollOrigin

    at = browser.find_elements("css selector", "#time-series .bk-Figure")[2]
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", at)
    before = model(browser, "events", "[m.x_range.start, m.x_range.end]")
    assert before == [0.0, 5.0]
    ActionChains(browser).scroll_from_origin(ScrollOrigin.from_element(at), 0, -400).perform()
    panels = ("events", "rotor speed (pu)", "bus voltage (pu)", "field voltage (pu)")
    ranges = [model(browser, name, "[m.x_range.start, m.x_range.end]") for name in panels]
    assert 0.0 <= ranges[0][0] < ranges[0][1] <= 5.0
    assert ranges[0][1] - ranges[0][0] < 4.0
    assert all(each == ranges[0] for each in ranges)
    model(browser, "rotor speed (pu)", "m.reset.emit()")
    assert model(browser, "events", "[m.x_range.start, m.x_range.end]") == before


def test_the_slider_shows_the_run_at_each_instant(browser, run):
    buses = column(browser, "nodes", "id")
    for frame in (0, 60, int(model(browser, "time", "m.end"))):
        model(browser, "time", f"m.value = {frame}")
        t = column(browser, "frames", "t")[frame]
        shown = [float(text.removesuffix(" pu")) for text in column(browser, "nodes", "text")]
        points = run.of(buses, "Vm")[run.t == t].astype(np.float32)
        assert shown in [[float(f"{v:.4g}") for v in volts] for volts in points]  # before or after a switching
        assert f"{t:.4f} s" in model(browser, "told", "m.text")


def test_a_mode_paints_its_participants(browser, run):
    modes = gc.analyses.small_signal(run.system)
    first = next(k for k in modes.pairs() if modes.eigenvalues[k].imag)
    model(browser, "colours", "m.value = '1'")
    shown = dict(zip(column(browser, "attached", "id"), column(browser, "attached", "text")))
    part = sum(p for (device, _), p in zip(modes.states, modes.participation[:, first]) if device.endswith("GEN30"))
    assert float(shown["GEN30"]) == pytest.approx(part, rel=1e-3)
    assert len(set(column(browser, "attached", "colour"))) > 3
    model(browser, "colours", "m.value = '0'")


def test_play_goes_through_the_run_and_stops(browser):
    from selenium.webdriver.support.ui import WebDriverWait

    end = model(browser, "time", "m.end")
    model(browser, "time", f"m.value = {end - 3}")
    browser.execute_script("""
        const find = (node) => [...node.querySelectorAll("*")].flatMap(
            (e) => (e.tagName == "BUTTON" && e.textContent == "play" ? [e] : [])
                .concat(e.shadowRoot ? find(e.shadowRoot) : []))
        find(document)[0].click()""")
    WebDriverWait(browser, 10).until(lambda _: model(browser, "time", "m.value") == end
                                     and model(browser, "play", "m.label") == "play")
