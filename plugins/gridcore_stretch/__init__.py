"""Steps in which nothing happens, many at once in C, and guesses of where one does: for the authors of integrators.

What an integrator's own C has to offer are two functions, and its :meth:`~gridcore.integrate.Stepper.stretch` is one
call of a :class:`Stretch`: see ``gridcore_theta`` and ``gridcore_bdf``. One that is :class:`Summed` says what its steps
are sums of, and derivatives are swept over many of them at once, too.
"""

from .errors import following
from .guess import on_bent_path
from .stretch import Stretch
from .summed import Summed
from .sweeps import Sums, Sweeps

__all__ = ["Stretch", "Summed", "Sums", "Sweeps", "following", "on_bent_path"]
