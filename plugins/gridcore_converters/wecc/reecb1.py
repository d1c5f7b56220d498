"""REECB1: electrical control of a large solar plant."""

from __future__ import annotations

from typing import ClassVar

from .electrical import ElectricalControl


class REECB1(ElectricalControl):
    """Electrical control REEC_B, as PSS/E's REECB1.

    :class:`~gridcore_converters.wecc.electrical.ElectricalControl` with one limit of current, ``Imax``, and the
    reactive current of the voltage error always added.

    WECC Solar Plant Dynamic Modeling Guidelines (2014), REEC_B; EPRI 3002027129 (2023).
    """

    dyr: ClassVar[tuple[str | None, ...]] = (
        None, "PfFlag", "VFlag", "QFlag", "PQFlag", "Vdip", "Vup", "Trv", "dbd1", "dbd2", "Kqv", "Iqh1", "Iql1",
        "Vref0", "Tp", "Qmax", "Qmin", "Vmax", "Vmin", "Kqp", "Kqi", "Kvp", "Kvi", "Tiq", "dPmax", "dPmin", "Pmax",
        "Pmin", "Imax", "Tpord")
