"""Converters: utility models and research models, registered by reference as the bundled devices are.

One file for a device, or for some that are nearly alike, in folders by kind; it says where its equations come from.
"""

from __future__ import annotations

import pkgutil
from typing import Any

from gridcore.registry import Register, hookimpl

FILES = {
    "wecc.regca1": "REGCA1",
    "wecc.regcb1": "REGCB1",
    "wecc.reeca1": "REECA1",
    "wecc.reecb1": "REECB1",
    "wecc.reecc1": "REECC1",
    "wecc.reecd1": "REECD1",
    "wecc.remote": "RemoteREECA1 RemoteREECB1 RemoteREECC1",
    "wecc.repca1": "REPCA1 RemoteREPCA1 MonitoringREPCA1",
    "wecc.repcb1": "REPCB1 REAX4BU1 REAX3BU1 PlantVars",
    "wecc.wtdta1": "WTDTA1",
    "wecc.wtara1": "WTARA1",
    "wecc.wtpta1": "WTPTA1",
    "wecc.wttqa1": "WTTQA1",
    "distributed.dera1": "DERA1",
    "forming.lcl": "LCLConverter",
    "forming.cascade": "VoltageCascade",
    "forming.outer": "VirtualInertia PowerDroop VirtualOscillator",
    "forming.pll": "ConverterPLL",
    "forming.regfma1": "REGFMA1",
    "forming.regfmb1": "REGFMB1",
    "following.current_control": "CurrentControl",
    "dc.bus": "DCBus",
    "dc.cable": "DCCable",
    "dc.capacitor": "DCCapacitor DCSlack",
    "dc.vsc": "VSC",
    "lcc.rectifier": "LCCLine",
    "lcc.inverter": "LCCInverter",
    "lcc.cdc4t": "CDC4T",
    "lcc.cdc6t": "CDC6T",
    "lcc.quasi_static": "CDCInverter",
    "network.line_inductor": "LineInductor",
    "network.rl_load": "RLLoad",
}
"""The device classes of each file."""

DEVICES = {name: f"{__name__}.{file}:{name}" for file, names in FILES.items() for name in names.split()}
"""Where each device class is."""


def __getattr__(name: str) -> Any:
    """``gridcore_converters.REGCA1``."""
    if name not in DEVICES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return pkgutil.resolve_name(DEVICES[name])


@hookimpl
def register_devices(register: Register) -> None:
    """All of them."""
    for place in DEVICES.values():
        register(place)


@hookimpl
def register_analyses(register: Register) -> None:
    """``gc.analyses.balance_dc(...)``, ``gc.analyses.with_converters(...)``."""
    register("balance_dc", f"{__name__}.dc.balance:balance_dc")
    register("with_converters", f"{__name__}.plants:with_converters")


@hookimpl
def register_checks(register: Register) -> None:
    """A warning of a dispatch that a DC network does not carry."""
    register("balanced direct current", f"{__name__}.dc.balance:unbalanced")
