"""The campaign by every method that is differentiated, in steps of a grid and in chosen ones.

The scenarios are those of the other campaigns; of chosen steps the perturbed runs repeat the mesh. From the root of the
repository::

    python -m tests.sensitivity.method_campaign --count 300 --seed 1
    python -m tests.sensitivity.method_campaign --seed 1 --only 137
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import campaign
import cdc_campaign
import converter_campaign
import dc_campaign
import industry_campaign
import plant_campaign

DRAWN = (campaign, cdc_campaign, converter_campaign, dc_campaign, industry_campaign, plant_campaign)
METHODS: tuple[tuple[str, dict[str, tuple[Any, ...]]], ...] = (
    ("theta", {"theta": (0.5, 0.55, 0.65, 1.0)}), ("trbdf2", {}), ("bdf", {"order": (1, 2, 3, 4, 5), "start": (1, 2)}))


def draw(rng: np.random.Generator) -> campaign.Scenario:
    """A scenario, a method with options, and a step or tolerances."""
    scenario = DRAWN[int(rng.integers(len(DRAWN)))].draw(rng)
    method, options = METHODS[int(rng.integers(len(METHODS)))]
    chosen = {name: rng.choice(values).item() for name, values in options.items()}
    how = {"method": method, "step": float(rng.uniform(0.004, 0.03)), **chosen}
    if rng.uniform() < 0.6:
        of_order_one = chosen.get("theta", 0.5) > 0.5 or chosen.get("order") == 1  # which takes very many steps
        rtol = 10 ** rng.uniform(-3 if of_order_one else -5, -1.5)
        how.update(step="auto", rtol=rtol, atol=rtol / 100)
    scenario.how = how
    return scenario


if __name__ == "__main__":
    sys.exit(campaign.main(draw))
