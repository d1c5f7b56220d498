"""Every tolerance and threshold of the core, in one table.

A constant here is a number that decides when something is small enough, equal enough or singular. Its row says what it
means, in which unit (most are relative: to what), and what its value follows from; those that belong together are
expressed by each other. ``docs/numerics.md`` shows the table. Limits on iterations, and constants of cost models,
stand where they are used: results do not depend on them.

Modules read ``numerics.NAME`` when they need it, so that a test can vary one.
"""

from __future__ import annotations

import functools
import sys
from typing import NamedTuple


class Tolerance(NamedTuple):
    """A row of the table: the value is a multiple of the unit, and follows from what is said there.

    One that acts on runs or their derivatives, made ten times larger or smaller, ``moves`` results of three studies by
    less than this, relative to ``scale + |x|``; None for one that does not act there.
    """

    name: str
    value: float
    unit: str
    meaning: str
    follows: str
    moves: float | None


TABLE: dict[str, list[Tolerance]] = {}


def _add(section: str, name: str, value: float, unit: str, meaning: str, follows: str,
         moves: float | None = None) -> float:
    TABLE.setdefault(section, []).append(Tolerance(name, value, unit, meaning, follows, moves))
    return value


_row = functools.partial(_add, "Arithmetic")

EPS = _row("EPS", sys.float_info.epsilon, "of a number", "spacing of floating-point numbers", "IEEE 754, double")
ROUND_OFF = _row("ROUND_OFF", 1e-14, "of the terms of a sum", "what arithmetic leaves of a sum that is zero",
                 "45 EPS, to be safe: in runs of up to 2000 buses less than a tenth of an estimate with EPS was found",
                 moves=1e-9)
ZERO_SQUARE = _row("ZERO_SQUARE", 1e-100, "pu²", "added to the square of a voltage, which may then be divided by",
                   "smaller than the round-off of any square that is not zero, and its reciprocal is still a number")

_row = functools.partial(_add, "Newton's method of a step", moves=1e-9)

NEWTON_REMAINS = _row("NEWTON_REMAINS", ROUND_OFF, "scale + abs(x)", "error that the last correction may leave",
                      "ROUND_OFF: less cannot be told from it")
NEWTON = _row("NEWTON", 1e-12, "scale + abs(x)", "a correction this small that no longer shrinks fast is round-off",
              "100 NEWTON_REMAINS: round-off of X behind a condition of 100")
NEWTON_ROUND_OFF = _row("NEWTON_ROUND_OFF", 10 * NEWTON, "scale + abs(x)",
                        "the largest round-off of corrections that later solves of a run take for granted",
                        "10 NEWTON: what is larger is fought again in every step")
NEWTON_FLOOR = _row("NEWTON_FLOOR", 1e-9, "scale + abs(x)", "a correction this small, which new factors do not shrink, "
                    "may be round-off; or the last one, if it leaves EPS", "1000 NEWTON: round-off of equations whose "
                    "matrix is nearly singular; other corrections leave a residual above NEWTON of its terms")
NEWTON_TELLING = _row("NEWTON_TELLING", 100.0, "of the round-off of corrections",
                      "a first correction above this tells, with the second, the rate at which old factors converge",
                      "below it the second one is round-off itself")
NEWTON_FAST = _row("NEWTON_FAST", 0.2, "of the last correction", "a correction larger than this asks for new factors",
                   "at a rate of 0.2 a digit costs 1.4 solves; a factorisation costs two or more")
RESIDUAL_FLOOR = _row("RESIDUAL_FLOOR", NEWTON_FLOOR, "unit of the equation",
                      "steps are not halved for residuals below this",
                      "NEWTON_FLOOR, for equations of slope one: round-off may keep such residuals from falling")
SHORTEST_STEP = _row("SHORTEST_STEP", 1e-3, "of Newton's step", "the shortest step of a line search",
                     "what does not fall within ten halvings does not fall along this direction")

_row = functools.partial(_add, "Steps", moves=1e-9)

SAME_TIME = _row("SAME_TIME", 1e-9, "of a step", "times closer than this are one time",
                 "above the round-off of sums of steps, up to 1e6 of them, and below what any result shows")
SAME_LENGTH = _row("SAME_LENGTH", 1e-3, "of a step's length", "factors and pivots of a step serve another of the same "
                   "length", "they precondition at a rate of this size: three digits an iteration")

_row = functools.partial(_add, "Steps of step = \"auto\"")

RTOL = _row("RTOL", 1e-3, "of a variable", "error that is tolerated, unless rtol= says otherwise",
            "that of steps of 10 ms in the swings after a fault; less than that of data")
ATOL = _row("ATOL", 1e-2 * RTOL, "scale", "and what is tolerated besides, unless atol= does",
            "RTOL of variables of a hundredth of their scale, such as deviations of speed")
SHORTEST = _row("SHORTEST", 1e-11, "seconds", "a step that would have to be shorter is an error",
                "SAME_TIME of a step of 10 ms: shorter ones are no time")

_row = functools.partial(_add, "Events", moves=1e-9)

LOCATION = _row("LOCATION", 1e-13, "of the step in which the crossing is",
                "a correction of a located time this small that no longer shrinks is round-off",
                "10 ROUND_OFF: the guard at both ends of the step is known no better")
TIME_ROUND_OFF = _row("TIME_ROUND_OFF", EPS, "of the time", "a correction of a located time that ends the search",
                      "twice what is between a time and its nearest number")
NOISY_LOCATION = _row("NOISY_LOCATION", SAME_TIME, "of the step", "the largest correction that a guard's own round-off "
                      "may excuse", "SAME_TIME: an error within it changes no order of events")
GUARD_TERMS = _row("GUARD_TERMS", 4 * EPS, "of the terms of a guard", "round-off of a guard evaluated by itself",
                   "a rounding for each of a few terms")
GUARD_ZERO = _row("GUARD_ZERO", SAME_TIME, "of the guard at the end of the step", "a step begins with a guard this "
                  "small at zero", "SAME_TIME: at a constant speed that is when it was there")
NEAR_A_ZERO = _row("NEAR_A_ZERO", 1e-3, "of the step, and of the guard at its end",
                   "a guard met farther from its zero may bend before it; one that is larger there jumps",
                   "over the thousandth part of a step nothing that the step resolves bends much")
BESIDE_A_ZERO = _row("BESIDE_A_ZERO", 1e-6, "of the bracket", "how far beside an exact zero of a guard its direction "
                     "is looked at", "there its value is a million times the round-off of the bracket's ends")
GUARD_LEAST = _row("GUARD_LEAST", NEWTON, "scale of what the guard reads", "values of any guard below this are zero",
                   "NEWTON: its variables are known no better, and its constants may hide from its derivatives")
GUARD_LARGE = _row("GUARD_LARGE", 1e-5, "unit of the guard, or its terms", "values above this are not compared with "
                   "round-off", "10^4 times the largest estimate found, in runs of up to 2000 buses; it saves it")
JUMP_OF_STATE = _row("JUMP_OF_STATE", NEWTON_FLOOR, "scale + abs(x)", "a limit that moved its state by more in a "
                     "switch has jumped", "NEWTON_FLOOR: the largest error that the algebraic equations may leave")
AT_REST = _row("AT_REST", 1e-9, "unit of the state / s", "a rate this small points neither into a limit nor out of it",
               "a state of size one takes 1e9 s to move by its size")

_row = functools.partial(_add, "Power flow and initial state", moves=1e-9)

POWER_FLOW = _row("POWER_FLOW", 1e-12, "pu of power", "mismatch of a solved power flow",
                  "round-off of some hundred flows of size one at a bus")
POWER_FLOW_FLOOR = _row("POWER_FLOW_FLOOR", 1e-9, "pu of power and voltage", "a mismatch below this that no longer "
                        "falls is round-off, a reactive limit passed by less is kept", "1000 POWER_FLOW: flows through "
                        "the shortest lines are a thousand times those that are scheduled")
PASSIVE = _row("PASSIVE", 1e-9, "of the admittances of all passive devices", "a part of them that treats real and "
               "imaginary voltage differently is no admittance", "far above round-off, far below any device")
INITIAL_CORRECTION = _row("INITIAL_CORRECTION", 1e-13, "scale + abs(x)", "the correction that ends the initialisation",
                          "10 ROUND_OFF")
INITIAL = _row("INITIAL", 1e-10, "unit of the equation or guard",
               "residuals of an initial state below this are accepted, limits broken by less are kept",
               "its power flow is solved to POWER_FLOW_FLOOR at worst, and mostly to POWER_FLOW")
INITIAL_ROUND_OFF = _row("INITIAL_ROUND_OFF", NEWTON_ROUND_OFF, "unit of the equation",
                         "residuals below this that no longer fall are round-off", "NEWTON_ROUND_OFF")
BALANCE = _row("BALANCE", 100 * INITIAL, "pu of current", "by which the currents of devices at a bus may miss those of "
               "the power flow", "100 INITIAL: many devices at one bus, each initialised to INITIAL")

_row = functools.partial(_add, "Linear systems")

EQUILIBRATED = _row("EQUILIBRATED", 16 * EPS, "of the largest pivot", "a smaller pivot is what rounding left of zero, "
                    "in a matrix that was scaled because by EPS it had such a pivot",
                    "some roundings more; its pivots differ in unit no more")
GAUGE = _row("GAUGE", 1e-9, "of one entry", "weight of scales near one, where entries leave them open by a factor",
             "below the weight of any entry, above EPS")
NULL_SHIFT = _row("NULL_SHIFT", 1e-10, "of entries scaled to one", "added to a singular matrix to find what it leaves "
                  "undetermined, for the words of an error", "above EPS, below all singular values that are not zero")

_row = functools.partial(_add, "Derivatives")

GRAZING = _row("GRAZING", 1e-9, "of the terms of a guard's speed", "a guard that is slower at its crossing grazes it",
               "nine digits of the speed are lost, and of every derivative across the event", moves=1e-9)
TOUCHING = _row("TOUCHING", 1e-6, "of the mean speed over the step", "a guard that is slower touches zero and returns",
                "the square root of LOCATION, and more: at a touch, speed falls as the root of the guard", moves=1e-9)
