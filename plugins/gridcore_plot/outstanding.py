"""Of many curves those that have a colour and a name, and that each keeps its colour from panel to panel."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

ALL_LABELLED = 12  # as many as there are colours
STANDING_OUT = 6


def standing_out(devices: Sequence[str], *scores: np.ndarray, among: Sequence[np.ndarray] = ()) -> list[str]:
    """All devices where they are few; of many those with the highest scores, in their own order.

    Parameters
    ----------
    devices : sequence of str
    *scores : (devices,) arrays
        What makes one stand out. The first of each is always there. A score of nan is the lowest.
    among : sequence of (devices,) arrays
        Scores of all panels of which this is one: the first of each is there as long as those are no more than twelve.
        Where they are fewer than six, the second of each follow, and so on.
    """
    if len(devices) <= ALL_LABELLED:
        return list(devices)
    orders = [_order(score) for score in among or scores]
    must = [int(_order(score)[0]) for score in scores]
    turns = [int(k) for turn in zip(*orders, strict=True) for k in turn]
    wanted = max(STANDING_OUT, len({*must}), min(len({*turns[:len(orders)]}), ALL_LABELLED))
    return [devices[k] for k in sorted(list(dict.fromkeys(must + turns))[:wanted])]


def standing_first(devices: Sequence[str], score: np.ndarray) -> str:
    """Who has the highest score."""
    return devices[_order(score)[0]]


def _order(score: np.ndarray) -> np.ndarray:
    return np.argsort(-np.nan_to_num(score, nan=-np.inf), kind="stable")


def extremes(values: np.ndarray) -> tuple[np.ndarray, ...]:
    """Of each of the (points, devices) values four scores: how far it strays, rises, dips, moves."""
    high = np.max(np.where(np.isfinite(values), values, -np.inf), axis=0, initial=-np.inf)
    low = np.min(np.where(np.isfinite(values), values, np.inf), axis=0, initial=np.inf)
    return stray(values), high, -low, high - low


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
