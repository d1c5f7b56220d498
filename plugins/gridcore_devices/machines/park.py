"""Network frame and rotor frame: ``(d + j q) e^{j (delta - pi/2)} = re + j im``.

Sauer & Pai (1998), section 6.3: the q axis is at `delta` from the network's real axis, the d axis
90 degrees behind it.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def to_rotor(re: Any, im: Any, delta: Any) -> tuple[Any, Any]:
    """(d, q) of a phasor given in the network's frame."""
    return re * np.sin(delta) - im * np.cos(delta), re * np.cos(delta) + im * np.sin(delta)


def to_network(d: Any, q: Any, delta: Any) -> tuple[Any, Any]:
    """(re, im) of a phasor given in the rotor's frame."""
    return d * np.sin(delta) + q * np.cos(delta), q * np.sin(delta) - d * np.cos(delta)


def steady_state(bus: Any, power: Any, Rs: Any, Xq: Any) -> tuple[Any, Any, Any, Any, Any]:
    """delta, Vd, Vq, Id, Iq of a machine in equilibrium that injects ``P + j Q`` (its own base).

    The q axis is where ``V + (Rs + j Xq) I`` points: Sauer & Pai (1998), section 7.6, steps 1 to 3.
    """
    V = bus.Vr + 1j * bus.Vi
    current = np.conj((power.P + 1j * power.Q) / V)
    delta = np.angle(V + (Rs + 1j * Xq) * current)
    Vd, Vq = to_rotor(V.real, V.imag, delta)
    Id, Iq = to_rotor(current.real, current.imag, delta)
    return delta, Vd, Vq, Id, Iq
