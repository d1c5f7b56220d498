"""The devices that come with gridcore, registered as any other plugin registers its own.

One device a file, in folders by kind; a file says where its equations come from.
"""

from __future__ import annotations

from collections.abc import Callable

from gridcore.hookspecs import hookimpl

from .branches.line import Line
from .branches.series_admittance import SeriesAdmittance
from .branches.shunt import Shunt
from .branches.transformer import Transformer
from .exciters.ieee_type1 import IEEEType1
from .exciters.ieeet1 import IEEET1
from .exciters.static import StaticExciter
from .governors.ggov1 import GGOV1
from .governors.hygov import HYGOV
from .governors.ieeeg1 import IEEEG1
from .governors.tgov1 import TGOV1
from .hybrid.bouncing_ball import BouncingBall
from .hybrid.switched_linear import SwitchedLinear
from .loads.exponential import Exponential
from .loads.exponential_recovery import ExponentialRecovery
from .loads.zip import ZIP
from .machines.classical import Classical
from .machines.flux_decay import FluxDecay
from .machines.gencls import GENCLS
from .machines.genroe import GENROE
from .machines.genrou import GENROU
from .machines.gensal import GENSAL
from .machines.infinite_bus import InfiniteBus
from .machines.static import StaticGenerator
from .machines.swing_equation import SwingEquation
from .machines.two_axis import TwoAxis
from .protection.overcurrent import OverCurrentRelay
from .protection.overload import OverloadRelay
from .protection.underfrequency import UnderFrequencyLoadShedding
from .protection.undervoltage import UnderVoltageLoadShedding

DEVICES: tuple[type, ...] = (
    StaticGenerator, InfiniteBus, SwingEquation, Classical, FluxDecay, TwoAxis,
    GENCLS, GENROU, GENROE, GENSAL,
    IEEEType1, IEEET1, StaticExciter, TGOV1,
    IEEEG1, GGOV1, HYGOV,
    ZIP, Exponential, ExponentialRecovery,
    Line, SeriesAdmittance, Transformer, Shunt,
    OverCurrentRelay, OverloadRelay, UnderFrequencyLoadShedding, UnderVoltageLoadShedding,
    SwitchedLinear, BouncingBall,
)


@hookimpl
def register_devices(register: Callable[[type], None]) -> None:
    """All of them."""
    for device in DEVICES:
        register(device)
