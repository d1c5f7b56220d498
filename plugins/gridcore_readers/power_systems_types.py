"""What the types of PowerSystems.jl are here, and what their fields are called.

J. D. Lara et al., "PowerSystems.jl -- A power system data management package for large scale modeling", SoftwareX 15
(2021); its dynamic components are those of PowerSimulationsDynamics.jl, most of them with the data of a model of PSS/E.
A field is a parameter by its name without underscores, whatever the capitals; a pair of limits by its name and MIN and
MAX; :data:`NAMES` has those that are called otherwise.
"""

from __future__ import annotations

BRANCHES = ("Line", "MonitoredLine", "Transformer2W", "TapTransformer", "PhaseShiftingTransformer")
LOADS = ("PowerLoad", "InterruptiblePowerLoad", "StandardLoad", "InterruptibleStandardLoad", "ExponentialLoad")
GENERATORS = ("ThermalStandard", "ThermalMultiStart", "HydroDispatch", "HydroEnergyReservoir", "HydroPumpedStorage",
              "RenewableDispatch", "RenewableFix", "RenewableNonDispatch", "GenericBattery", "EnergyReservoirStorage")
#: Dynamic parts: the device class, or nothing where a part is a constant.
MACHINES = {"BaseMachine": "GENCLS", "OneDOneQMachine": "TwoAxis", "RoundRotorQuadratic": "GENROU",
            "RoundRotorExponential": "GENROE", "SalientPoleQuadratic": "GENSAL", "SalientPoleExponential": "GENSAE"}
EXCITERS = {"AVRFixed": "", "AVRTypeI": "IEEEType1",
            **{name: name for name in ("IEEET1", "ESDC1A", "ESDC2A", "ESAC1A", "ESAC6A", "EXAC1", "EXAC2", "EXPIC1",
                                       "ESST1A", "ESST4B", "EXST1", "SCRX", "SEXS")}}
GOVERNORS = {"TGFixed": "", "SteamTurbineGov1": "TGOV1", "GasTG": "GAST", "HydroTurbineGov": "HYGOV",
             "IEEETurbineGov1": "IEEEG1", "GeneralGovModel": "GGOV1"}
STABILIZERS = {"PSSFixed": "", "IEEEST": "IEEEST"}
PARTS = {"machine": MACHINES, "shaft": {"SingleMass": ""}, "avr": EXCITERS, "prime_mover": GOVERNORS,
         "pss": STABILIZERS}
#: Types without effect on what is calculated here.
IDLE = ("Area", "LoadZone", "Arc", "AreaInterchange", "TransmissionInterface", "AGC", "TransferFunction",
        "ConstantReserve", "ConstantReserveGroup", "ConstantReserveNonSpinning", "VariableReserve",
        "VariableReserveNonSpinning", "ReserveDemandCurve", "StaticReserve", "StaticReserveGroup",
        "StaticReserveNonSpinning")
#: Fields of dynamic parts without effect: references, which are found, and what a program keeps beside the data.
KEPT = ("__metadata__", "name", "internal", "ext", "states", "n_states", "states_types", "saturation_coeffs", "V_ref",
        "P_ref", "θp_rad", "eq_p", "Vf", "V_pss", "efficiency")
Names = dict[str, tuple[str, ...]]
_MACHINE: Names = {"R": ("Rs",), "Se": ("S10", "S12")}
_EXCITER: Names = {"E_sat": ("E1", "E2"), "Se": ("SE1", "SE2"), "θp": ("THETAP",)}
#: Fields that a device class calls otherwise; pairs are lower and upper limit, or two values in their order.
NAMES: dict[str, Names] = {
    **dict.fromkeys(MACHINES, _MACHINE), **dict.fromkeys(EXCITERS, _EXCITER),
    "AVRTypeI": {"Va_lim": ("VRMIN", "VRMAX"), "Ae": ("Ax",), "Be": ("Bx",)},
    "ESDC1A": _EXCITER | {"Tf": ("TF1",)}, "ESDC2A": _EXCITER | {"Tf": ("TF1",)},
    "ESST1A": {"UEL_flags": ("UEL",), "PSS_flags": ("VOS",)},
    "EXPIC1": _EXCITER | {"Ta": ("TA1",), "Va_lim": ("VR2", "VR1")},
    "SEXS": {"V_lim": ("EMIN", "EMAX")},
    "SCRX": {"Efd_lim": ("EMIN", "EMAX"), "switch": ("CSWITCH",)},
    "SteamTurbineGov1": {"valve_position_limits": ("VMIN", "VMAX"), "D_T": ("Dt",)},
    "GasTG": {"V_lim": ("VMIN", "VMAX"), "D_turb": ("Dturb",)},
    "HydroTurbineGov": {"gate_position_limits": ("GMIN", "GMAX"), "D_T": ("Dturb",)},
    "IEEETurbineGov1": {"valve_position_limits": ("PMIN", "PMAX"), "U0": ("Uo",)},
    "GeneralGovModel": {"fuel_flag": ("Flag",), "speed_error_signal": ("minerr", "maxerr"),
                        "valve_position_limits": ("VMIN", "VMAX")},
    "IEEEST": {"input_code": ("ICS",), "remote_bus_control": ("IB",)},
}
