"""The coefficients of TR-BDF2: the stage is at `GAMMA` of a step; `ALPHA` of it is implicit in both stages.

`A` is the weight of the stage in the second formula, ``1 - A`` that of the start.
"""

from math import sqrt

GAMMA = 2 - sqrt(2)
ALPHA = GAMMA / 2
A = 1 / (GAMMA * (2 - GAMMA))
