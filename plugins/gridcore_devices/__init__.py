"""The devices that come with gridcore, registered as any other plugin registers its own.

One file for a device, or for some that are nearly alike, in folders by kind; it says where its equations come from.
It is read when the device is first asked for: a study has ten models of a hundred.
"""

from __future__ import annotations

import pkgutil
from typing import Any

from gridcore.registry import Register, hookimpl

FILES = {
    "machines.static": "StaticGenerator",
    "machines.infinite_bus": "InfiniteBus",
    "machines.swing_equation": "SwingEquation",
    "machines.classical": "Classical",
    "machines.flux_decay": "FluxDecay",
    "machines.two_axis": "TwoAxis",
    "machines.gencls": "GENCLS",
    "machines.genrou": "GENROU",
    "machines.genroe": "GENROE",
    "machines.gensal": "GENSAL",
    "machines.gensae": "GENSAE",
    "machines.gentpj": "GENTPF GENTPJ GENTPJ1 GENTPJU1",
    "exciters.ieee_type1": "IEEEType1",
    "exciters.ieeet1": "IEEET1",
    "exciters.ieeex1": "IEEEX1",
    "exciters.esdc1a": "ESDC1A",
    "exciters.esdc2a": "ESDC2A",
    "exciters.exdc2": "EXDC2",
    "exciters.exdc1": "EXDC1",
    "exciters.exac1": "EXAC1",
    "exciters.exac2": "EXAC2",
    "exciters.esac1a": "ESAC1A",
    "exciters.esac6a": "ESAC6A",
    "exciters.esst1a": "ESST1A",
    "exciters.esst4b": "ESST4B",
    "exciters.expic1": "EXPIC1",
    "exciters.scrx": "SCRX",
    "exciters.sexs": "SEXS",
    "exciters.exst1": "EXST1",
    "exciters.esst3a": "ESST3A",
    "exciters.ieeet2": "IEEET2",
    "exciters.ac8b": "AC8B",
    "exciters.dc4b": "DC4B",
    "exciters.st6b": "ST6B",
    "exciters.st8c": "ST8C",
    "exciters.ieeevc": "IEEEVC",
    "compensators.csvgn1": "CSVGN1",
    "exciters.static": "StaticExciter",
    "limiters.maxex2": "MAXEX2",
    "limiters.uel1": "UEL1",
    "limiters.uel2": "UEL2",
    "stabilizers.ieeest": "IEEEST",
    "stabilizers.stab1": "STAB1",
    "stabilizers.pss2": "PSS2A PSS2B PSS2C",
    "stabilizers.stab2a": "STAB2A",
    "stabilizers.st2cut": "ST2CUT",
    "governors.tgov1": "TGOV1",
    "governors.ieeeg1": "IEEEG1 CrossIEEEG1",
    "governors.wsieg1": "WSIEG1 CrossWSIEG1",
    "governors.ggov1": "GGOV1",
    "governors.hygov": "HYGOV",
    "governors.gast": "GAST",
    "governors.ieeeg3": "IEEEG3",
    "governors.ieesgo": "IEESGO",
    "governors.degov": "DEGOV DEGOV1",
    "governors.pidgov": "PIDGOV WPIDHY",
    "loads.zip": "ZIP",
    "loads.exponential": "Exponential",
    "loads.exponential_recovery": "ExponentialRecovery",
    "loads.compload": "COMPLOAD",
    "loads.cim5bl": "CIM5BL",
    "loads.ieelbl": "IEELBL",
    "branches.line": "Line",
    "branches.series_admittance": "SeriesAdmittance",
    "branches.transformer": "Transformer",
    "branches.tap_changer": "TapChanger OLTC1T OLTC3T",
    "branches.shunt": "Shunt",
    "branches.joined_bus": "JoinedBus",
    "protection.overcurrent": "OverCurrentRelay",
    "protection.overload": "OverloadRelay",
    "protection.underfrequency": "UnderFrequencyLoadShedding",
    "protection.undervoltage": "UnderVoltageLoadShedding",
    "protection.generator": "FRQTPAT VTGTPAT",
    "protection.shedding": "LDS3BL LVS3BL TransferTrip",
    "disturbances": "BusFault BranchTrip Trip ParameterStep Ramp",
    "hybrid.switched_linear": "SwitchedLinear",
    "hybrid.bouncing_ball": "BouncingBall",
}
"""The device classes of each file."""

DEVICES = {name: f"{__name__}.{file}:{name}" for file, names in FILES.items() for name in names.split()}
"""Where each device class is."""


def __getattr__(name: str) -> Any:
    """``gridcore_devices.GENROU``."""
    if name not in DEVICES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return pkgutil.resolve_name(DEVICES[name])


@hookimpl
def register_devices(register: Register) -> None:
    """All of them."""
    for place in DEVICES.values():
        register(place)
