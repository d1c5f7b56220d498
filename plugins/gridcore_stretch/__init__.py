"""Steps in which nothing happens, many at once in C: for the authors of integrators.

What an integrator's own C has to offer are two functions, and its :meth:`~gridcore.integrate.Stepper.stretch` is one
call of a :class:`Stretch`: see ``gridcore_theta`` and ``gridcore_bdf``.
"""

from .stretch import Stretch

__all__ = ["Stretch"]
