"""How far something is, as a bar in a notebook."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def progress(total: float) -> Callable[..., None]:
    """A bar that shows in a notebook how far a run or a sweep is; in a terminal a line of text.

    ``gc.simulate(system, t_end=20, progress=gc.analyses.progress(20))``

    Parameters
    ----------
    total : float
        What is told when all is done: the end of a run (s), the number of scenarios.

    Returns
    -------
    callable
        What ``progress=`` takes. The bar is shown when it is called first.

    Raises
    ------
    ModuleNotFoundError
        If there is no IPython, whose bar it is.
    """
    from IPython.display import ProgressBar

    steps = 200  # more would cost time and show nothing
    make: Any = ProgressBar
    bar = make(steps)
    shown = -1

    def tell(done: float, *_: Any) -> None:
        nonlocal shown
        now = int(steps * min(done / total, 1.0))
        if shown < 0:
            bar.display()
        if now > shown:
            bar.progress = shown = now

    return tell
