"""Small-signal stability: modes of the linearised system, what they depend on, and how they move with parameters.

The analyses ``small_signal``, ``linearise``, ``root_locus`` and ``damping_map``, their figures, and the verbs
``gridcore eig``, ``gridcore locus`` and ``gridcore damping``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gridcore.registry.hookspecs import hookimpl


@hookimpl
def register_analyses(register: Callable[[str, Callable[..., Any]], None]) -> None:
    """``gc.analyses.small_signal(system)`` and its relations."""
    for function in (_small_signal, _linearise, _root_locus, _damping_map, _plot_modes, _plot_locus, _plot_damping_map):
        register(function.__name__[1:], function)


@hookimpl
def register_commands(register: Callable[[Any], None]) -> None:
    """``gridcore eig``, ``gridcore locus``, ``gridcore damping``."""
    from .command import damping_command, eig_command, locus_command

    for command in (eig_command, locus_command, damping_command):
        register(command)


def _small_signal(*args: Any, **options: Any) -> Any:
    """Modes of a system: see :func:`gridcore_smallsignal.analysis.small_signal`."""
    from .analysis import small_signal

    return small_signal(*args, **options)


def _linearise(*args: Any, **options: Any) -> Any:
    """Jacobian blocks and callable: see :func:`gridcore_smallsignal.linearisation.linearise`."""
    from .linearisation import linearise

    return linearise(*args, **options)


def _root_locus(*args: Any, **options: Any) -> Any:
    """Eigenvalues over a parameter: see :func:`gridcore_smallsignal.locus.root_locus`."""
    from .locus import root_locus

    return root_locus(*args, **options)


def _damping_map(*args: Any, **options: Any) -> Any:
    """Damping over two parameters: see :func:`gridcore_smallsignal.locus.damping_map`."""
    from .locus import damping_map

    return damping_map(*args, **options)


def _plot_modes(*args: Any, **options: Any) -> Any:
    """Draw modes: see :func:`gridcore_smallsignal.figures.plot_modes`."""
    from .figures import plot_modes

    return plot_modes(*args, **options)


def _plot_locus(*args: Any, **options: Any) -> Any:
    """Draw a root locus: see :func:`gridcore_smallsignal.figures.plot_locus`."""
    from .figures import plot_locus

    return plot_locus(*args, **options)


def _plot_damping_map(*args: Any, **options: Any) -> Any:
    """Draw a damping map: see :func:`gridcore_smallsignal.figures.plot_damping_map`."""
    from .figures import plot_damping_map

    return plot_damping_map(*args, **options)
