"""The devices that come with gridcore, registered as any other plugin registers its own.

One device a file, in folders by kind; a file says where its equations come from.
"""

from __future__ import annotations

from gridcore.registry import Register, hookimpl

from .branches.line import Line
from .branches.series_admittance import SeriesAdmittance
from .branches.shunt import Shunt
from .branches.transformer import Transformer
from .compensators.csvgn1 import CSVGN1
from .exciters.esac1a import ESAC1A
from .exciters.esac6a import ESAC6A
from .exciters.esdc1a import ESDC1A
from .exciters.esdc2a import ESDC2A
from .exciters.esst1a import ESST1A
from .exciters.esst3a import ESST3A
from .exciters.esst4b import ESST4B
from .exciters.exac1 import EXAC1
from .exciters.exac2 import EXAC2
from .exciters.exdc2 import EXDC2
from .exciters.expic1 import EXPIC1
from .exciters.exst1 import EXST1
from .exciters.ieee_type1 import IEEEType1
from .exciters.ieeet1 import IEEET1
from .exciters.ieeet2 import IEEET2
from .exciters.ieeevc import IEEEVC
from .exciters.ieeex1 import IEEEX1
from .exciters.scrx import SCRX
from .exciters.sexs import SEXS
from .exciters.static import StaticExciter
from .governors.degov import DEGOV, DEGOV1
from .governors.gast import GAST
from .governors.ggov1 import GGOV1
from .governors.hygov import HYGOV
from .governors.ieeeg1 import IEEEG1
from .governors.ieeeg3 import IEEEG3
from .governors.ieesgo import IEESGO
from .governors.tgov1 import TGOV1
from .hybrid.bouncing_ball import BouncingBall
from .hybrid.switched_linear import SwitchedLinear
from .loads.cim5bl import CIM5BL
from .loads.compload import COMPLOAD
from .loads.exponential import Exponential
from .loads.exponential_recovery import ExponentialRecovery
from .loads.ieelbl import IEELBL
from .loads.zip import ZIP
from .machines.classical import Classical
from .machines.flux_decay import FluxDecay
from .machines.gencls import GENCLS
from .machines.genroe import GENROE
from .machines.genrou import GENROU
from .machines.gensae import GENSAE
from .machines.gensal import GENSAL
from .machines.gentpj import GENTPF, GENTPJ, GENTPJ1, GENTPJU1
from .machines.infinite_bus import InfiniteBus
from .machines.static import StaticGenerator
from .machines.swing_equation import SwingEquation
from .machines.two_axis import TwoAxis
from .protection.overcurrent import OverCurrentRelay
from .protection.overload import OverloadRelay
from .protection.underfrequency import UnderFrequencyLoadShedding
from .protection.undervoltage import UnderVoltageLoadShedding
from .stabilizers.ieeest import IEEEST
from .stabilizers.pss2 import PSS2A, PSS2B
from .stabilizers.st2cut import ST2CUT
from .stabilizers.stab1 import STAB1

DEVICES: tuple[type, ...] = (
    StaticGenerator, InfiniteBus, SwingEquation, Classical, FluxDecay, TwoAxis,
    GENCLS, GENROU, GENROE, GENSAL, GENSAE, GENTPF, GENTPJ, GENTPJ1, GENTPJU1,
    IEEEType1, IEEET1, IEEEX1, ESDC1A, ESDC2A, EXDC2, EXAC1, EXAC2, ESAC1A, ESAC6A, ESST1A, ESST4B, EXPIC1, SCRX, SEXS,
    EXST1, ESST3A, IEEET2, IEEEVC,
    CSVGN1,
    StaticExciter, IEEEST, STAB1, PSS2A, PSS2B, ST2CUT, TGOV1,
    IEEEG1, GGOV1, HYGOV, GAST, IEEEG3, IEESGO, DEGOV, DEGOV1,
    ZIP, Exponential, ExponentialRecovery, COMPLOAD, CIM5BL, IEELBL,
    Line, SeriesAdmittance, Transformer, Shunt,
    OverCurrentRelay, OverloadRelay, UnderFrequencyLoadShedding, UnderVoltageLoadShedding,
    SwitchedLinear, BouncingBall,
)


@hookimpl
def register_devices(register: Register) -> None:
    """All of them."""
    for device in DEVICES:
        register(device)
