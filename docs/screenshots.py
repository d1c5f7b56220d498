"""Pages of the site as pictures, ``docs/figures/site_*.png``: ``python docs/screenshots.py [BROWSER]``.

They are those that ``tox -e site`` has made; with ``--report`` in place of that it is a report of ``ieee39``,
``docs/figures/report.png``. The browser is Chromium, or one that takes its options; it needs no screen and no network.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

HERE = Path(__file__).parent
SITE = HERE / "_build" / "html"
PAGES = {"start": "start", "model": "generated/library/SEXS", "verb": "generated/verbs/eig"}


def main() -> None:
    """Take them."""
    given = [argument for argument in sys.argv[1:] if argument != "--report"]
    known = (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome", "chrome"))
    browser = given[0] if given else next(filter(None, known), None)
    if browser is None:
        raise SystemExit("there is no chromium: name a browser")
    if "--report" in sys.argv:
        report(browser)
        return
    for name, page in PAGES.items():
        file = SITE / f"{page}.html"
        if not file.exists():
            raise SystemExit(f"{file} is not there: tox -e site")
        take(browser, file.as_uri(), HERE / "figures" / f"site_{name}.png", "1200,1500")


def report(browser: str) -> None:
    """The diagram and the time series of a report."""
    import gridcore as gc

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "report.html")
        gc.simulate("ieee39", t_end=5.0).save(file)
        take(browser, file.as_uri(), HERE / "figures" / "report.png", "1240,2750")


def take(browser: str, page: str, picture: Path, size: str) -> None:
    """A page as a picture, once its scripts have run."""
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                        f"--user-data-dir={profile}", f"--window-size={size}", "--virtual-time-budget=20000",
                        f"--screenshot={picture}", page], check=True, capture_output=True, timeout=120)
    Image.open(picture).convert("P", palette=Image.Palette.ADAPTIVE, colors=128).save(picture, optimize=True)


if __name__ == "__main__":
    main()
