"""Of many curves those that have a colour and a name, and that each keeps its colour from panel to panel."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

ALL_LABELLED = 12
FEW = 7  # as many as there are colours
STANDING_OUT = 6


def standing_out(devices: Sequence[str], *scores: np.ndarray, few: int = ALL_LABELLED) -> list[str]:
    """All devices where they are few; of many the six with the highest scores, in their own order.

    Parameters
    ----------
    devices : sequence of str
    *scores : (devices,) arrays
        What makes one stand out. Of several the highest of each are taken in turn, so that the first of each is there.
        A score of nan is the lowest.
    few : int
        So many are all named.
    """
    if len(devices) <= few:
        return list(devices)
    turns = zip(*(np.argsort(-np.nan_to_num(score, nan=-np.inf), kind="stable").tolist() for score in scores))
    first = list(dict.fromkeys(k for turn in turns for k in turn))[:STANDING_OUT]
    return [devices[k] for k in sorted(first)]


def stray(values: np.ndarray) -> np.ndarray:
    """(devices,) how far each of the (points, devices) values is from the median of all, at most at any time."""
    alive = np.isfinite(values).any(axis=1)
    away = np.abs(values[alive] - np.nanmedian(values[alive], axis=1, keepdims=True))
    return np.max(np.nan_to_num(away), axis=0, initial=0.0)


def colour_numbers(named: Iterable[Sequence[str]]) -> list[dict[str, int]]:
    """Of each panel the numbers of the colours of its named devices: panels that share devices share numbers."""
    families: list[dict[str, int]] = []
    out = []
    for devices in named:
        family = next((known for known in families if not known.keys().isdisjoint(devices)), None)
        if family is None:
            families.append(family := {})
        for device in devices:
            family.setdefault(device, len(family))
        out.append(family)
    return out
