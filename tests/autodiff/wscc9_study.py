"""The study that both libraries differentiate, and what the adjoint says of it."""

import gridcore as gc

WRT = ["GEN2.H", "EXC1.KA", "fault.clear"]
OBJECTIVES = [gc.Terminal(lambda v: v["GEN2", "omega"]), gc.Integral(lambda v: (v["BUS5", "Vm"] - 1) ** 2)]


def adjoint():
    return gc.adjoint(gc.simulate("wscc9", 0.5), OBJECTIVES, WRT)
