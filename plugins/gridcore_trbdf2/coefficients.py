"""The coefficients of TR-BDF2: the stage is at `GAMMA` of a step; `ALPHA` of it is implicit in both stages.

`A` is the weight of the stage in the second formula, ``1 - A`` that of the start.
"""

from math import sqrt

GAMMA = 2 - sqrt(2)
ALPHA = GAMMA / 2
A = 1 / (GAMMA * (2 - GAMMA))
# Of the slopes at start, stage and end: what the embedded formula of third order has less (Hosea & Shampine 1996).
ERROR = (sqrt(2) - 1) / 3, -1 / 3, GAMMA / 3
