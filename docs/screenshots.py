"""Pages of the site as pictures, ``docs/figures/site_*.png``: ``python docs/screenshots.py [BROWSER]``.

They are those that ``tox -e site`` has made. The browser is Chromium, or one that takes its options; it needs no screen
and no network.
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
    known = (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome", "chrome"))
    browser = sys.argv[1] if len(sys.argv) > 1 else next(filter(None, known), None)
    if browser is None:
        raise SystemExit("there is no chromium: name a browser")
    for name, page in PAGES.items():
        file = SITE / f"{page}.html"
        if not file.exists():
            raise SystemExit(f"{file} is not there: tox -e site")
        picture = HERE / "figures" / f"site_{name}.png"
        with tempfile.TemporaryDirectory() as profile:
            subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                            f"--user-data-dir={profile}", "--window-size=1200,1500",
                            f"--screenshot={picture}", file.as_uri()], check=True, capture_output=True, timeout=120)
        Image.open(picture).convert("P", palette=Image.Palette.ADAPTIVE, colors=64).save(picture, optimize=True)


if __name__ == "__main__":
    main()
