"""The device contract: what an author declares, and the plain functions that are the model.

A device is a class. Its declarations (:class:`Param`, :class:`State`, ...) are class attributes; its equations are
plain numpy functions of *views*: ``s`` is the device itself, and every further argument is a port, named in
``attaches``, or a port of what the device hangs on. So an exciter on a machine may ask for ``bus`` and sees the
machine's bus. No function has a ``self``, an index, a derivative, or a sign but "current injected into the bus".

========================  ==================================================================
function                  returns
========================  ==================================================================
``rates(s, *ports)``      d/dt of each :class:`State` without a ``rate`` of its own, in order of declaration
                          (times the state's time constant ``T``, where one is declared)
``residuals(s, *ports)``  what must be zero, one for each :class:`Algebraic` without ``equals``, in order
``currents(s, *buses)``   current injected into the bus: ``(re, im)``; for several bus ports a
                          tuple of such pairs, in order of ``attaches``
``flows(s, *nodes)``      the same for nodes of any class: for each node port a tuple of what is injected, one entry
                          for each potential of the node
``scheduled(s)``          ``(P, Q)`` injected in the power flow, pu of the system base
``start(s, *ports)``      numbers to start initialisation from: ``{name: array}``. Evaluated on
                          numpy arrays, one entry an instance; may ask for ``power`` (``.P``, ``.Q``)
========================  ==================================================================

Every view offers, beside what its class declares: ``time`` (s), ``omega_b`` (rad/s, 2 pi times the
system's frequency), ``base_mva``, and the mode ``status`` (1 in service, 0 not).
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from ..errors import DeviceError
from ..registry import loading
from . import limits
from .record import Record

if TYPE_CHECKING:
    from .node import Port

REQUIRED: Any = type("Required", (), {"__repr__": lambda self: "required"})()


class Declaration:
    """Anything declared on a device; learns its own name from the class body."""

    name: str = ""
    unit: str = ""
    doc: str = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        said = ", ".join(f"{key}={value!r}" for key, value in vars(self).items()
                         if key[0] != "_" and key != "name" and value not in (None, "", {}) and not callable(value))
        return f"{type(self).__name__}({said})"


class Composite(Declaration):
    """A declaration that stands for several: a block of a control diagram, for one."""

    def parts(self) -> Mapping[str, Declaration]:
        """What it stands for, by name, as if each stood in the class body."""
        raise NotImplementedError


class PerUnit(str):
    """The unit ``"pu"`` that says what converts to it: ``PerUnit("Hz")`` of a speed, ``PerUnit("kV")`` of a voltage."""

    of: tuple[str, ...]

    def __new__(cls, *of: str) -> PerUnit:
        (made := super().__new__(cls, "pu")).of = of
        return made


_SAYS: dict[str, tuple[str, Callable[[float, float], bool]]] = {
    "gt": ("greater than", operator.gt), "ge": ("at least", operator.ge),
    "lt": ("less than", operator.lt), "le": ("at most", operator.le)}


class Param(Declaration):
    """A number of the device's data, differentiable, addressed ``device.param``.

    Parameters
    ----------
    unit, doc : str
        Unit the equations use (a case file may give any that converts: to "pu" none), and what pages say of it.
    default : float or "base_mva", optional
        Without one the field is required. ``"base_mva"`` takes the system's base.
    gt, ge, lt, le : float, optional
        Bounds that a case file must keep.
    drives : str, optional
        ``"port.input"``: this parameter feeds that input of the device it hangs on.
    """

    def __init__(self, unit: str = "", default: Any = REQUIRED, *, gt: float | None = None, ge: float | None = None,
                 lt: float | None = None, le: float | None = None, drives: str | None = None, doc: str = ""):
        self.unit = PerUnit() if unit == "pu" and not isinstance(unit, PerUnit) else unit
        self.default, self.drives, self.doc = default, drives, doc
        self.bounds = {k: v for k, v in (("gt", gt), ("ge", ge), ("lt", lt), ("le", le)) if v is not None}

    def refuses(self, number: float) -> str:
        """What it must be, in words, where a number is outside its bounds; else nothing."""
        inside = all(_SAYS[kind][1](number, bound) for kind, bound in self.bounds.items())
        return "" if inside else " and ".join(f"{_SAYS[kind][0]} {bound:g}" for kind, bound in self.bounds.items())


class Field(Declaration):
    """A word of the device's data that no equation reads (``control = "PV"``).

    Parameters
    ----------
    default, doc : str, optional
        Without a default the field is required; `doc` is what pages say of it.
    choices : sequence of str, optional
        The words allowed.
    """

    def __init__(self, default: Any = REQUIRED, *, choices: tuple[str, ...] = (), doc: str = ""):
        self.default, self.choices, self.doc = default, tuple(choices), doc


class State(Declaration):
    """A differential variable.

    Parameters
    ----------
    unit, doc : str
    init : float
        Guess for initialisation where ``start`` gives none.
    rate : callable, optional
        ``rate(s, *ports)``: its rate, where it does not stand among the ``rates`` of the device.
    T : str, optional
        Name of a parameter (or of a quantity of parameters only), the time constant:
        ``T dx/dt = rate``. Where it is zero the state is algebraic, ``0 = rate``, for that instance.
    limits : (bound, bound), optional
        Lower and upper non-windup limit, each the name of a parameter, set-point or quantity, a number, or None: see
        :mod:`gridcore.contract.limits`. The mode ``<state>_limit``, -1, 0 or 1, and its guards come with it.
    limit_names : (str, str), optional
        What the bounds are called in events, where not by their own names.
    clamp : str, optional
        Another mode that changes with that of the limit: of an output that is at its limit where the state is.
    at_limit : {0, 1, -1}
        1 or -1 for a state that normally rests at that limit (an integrator that a gate does not
        select): initialisation starts from there, and frees it where its rate points back inside.
    start_at : str, optional
        Name of a parameter: the value at t0, in place of the equilibrium condition.
    drives : str, optional
        ``"port.input"``: this state feeds that input of the device it hangs on; or the name of a
        :class:`Reference`, whose parameter it then replaces.
    scale : float
        The size that matters, in its unit: errors are measured against ``scale + |x|``.
    """

    def __init__(self, unit: str = "", *, init: float = 0.0, rate: Callable[..., Any] | None = None,
                 T: str | None = None, limits: tuple[limits.Bound, limits.Bound] | None = None,
                 limit_names: tuple[str, str] | None = None, clamp: str | None = None, at_limit: int = 0,
                 start_at: str | None = None, drives: str | None = None, scale: float = 1.0, doc: str = ""):
        self.unit, self.init, self.equation, self.T, self.limits = unit, init, rate, T, limits
        self.limit_names, self.clamp, self.at_limit, self.start_at = limit_names, clamp, at_limit, start_at
        self.drives, self.scale, self.doc = drives, scale, doc


class Algebraic(Declaration):
    """An algebraic variable, one entry of ``residuals`` each, or what ``equals(s, *ports)`` gives.

    Parameters
    ----------
    equals : callable, optional
    unit, init, drives, scale, doc
        As of :class:`State`.
    """

    def __init__(self, unit: str = "", *, init: float = 0.0, equals: Callable[..., Any] | None = None,
                 drives: str | None = None, scale: float = 1.0, doc: str = ""):
        self.unit, self.init, self.equation, self.drives, self.scale, self.doc = unit, init, equals, drives, scale, doc


class Input(Declaration):
    """A signal that a device hanging on this one drives.

    Where none does, it is a constant parameter of the same name.

    Parameters
    ----------
    unit, doc : str
    default : float, optional
        Its value then; without one it is a set-point, found at initialisation.
    """

    def __init__(self, unit: str = "", default: float | None = None, *, doc: str = ""):
        self.unit, self.default, self.doc = unit, default, doc


class Reference(Declaration):
    """Any parameter of any device, named in a record by its address ``"GEN1.Pm"``.

    Equations read its value, and events may change it. A variable that ``drives`` a reference takes
    the parameter's place wherever it is read (a ramp). `doc` is what pages say of it.
    """

    def __init__(self, *, doc: str = ""):
        self.doc = doc


class Setpoint(Declaration):
    """A constant found at initialisation, so that the device rests at the operating point.

    Parameters
    ----------
    unit, doc : str
    init : float
        Guess where ``start`` gives none.
    equals : callable, optional
        ``equals(s, *ports)``: its value at the operating point. Without it the equilibrium
        (zero rates, the power of the power flow) determines it.
    """

    def __init__(self, unit: str = "", *, init: float = 0.0, equals: Callable[..., Any] | None = None, doc: str = ""):
        self.unit, self.init, self.equals, self.doc = unit, init, equals, doc


class Mode(Declaration):
    """A discrete state that equations read and events change; never differentiated.

    Parameters
    ----------
    initial : float
    doc : str
    """

    def __init__(self, initial: float = 0.0, *, doc: str = ""):
        self.initial, self.doc = float(initial), doc


@dataclass(eq=False)
class Guard(Declaration):
    """A state event: a function whose zero crossing acts. Made by :func:`guard`.

    See :func:`guard` for the fields; `limit` is there where a limit is reached.
    """

    function: Callable[..., Any]
    direction: int
    when: Mapping[str, float]
    then: Mapping[str, Any]
    delay: str | None = None
    cancel: Callable[..., Any] | bool = True
    doc: str = ""
    settles: bool = False
    limit: limits.Reached | None = None


@dataclass(eq=False)
class Timer(Declaration):
    """A time event: acts when the time reaches a parameter. Made by :func:`timer`."""

    at: str
    then: Mapping[str, Any]
    doc: str = ""


_DIRECTIONS = {"up": 1, "down": -1, "both": 0}


def guard(direction: str, *, when: Mapping[str, float] | None = None, then: Mapping[str, Any],
          delay: str | None = None, cancel: Callable[..., Any] | bool = True,
          settles: bool = False) -> Callable[..., Any]:
    """Declare a state event: the decorated function's zero crossing acts.

    Parameters
    ----------
    direction : {"up", "down", "both"}
        Which way through zero counts.
    when : mapping, optional
        Modes and the values they must have for the guard to be watched (``"branch.status"``
        names a mode of the port ``branch``).
    then : mapping
        What changes: ``"mode"``, ``"param"``, ``"state"``, or ``"port.name"`` for those of a port,
        to a number or to a function of views ``f(s, *ports)`` giving the new value from the
        values just before. A function for a state is a reset, for a parameter a jump.
    delay : str, optional
        Name of a parameter: the action follows the crossing by this time (s).
    cancel : bool or callable, optional
        For a delayed guard: whether crossing back cancels the pending action (the default), or
        a function of views whose rise through zero does.
    settles : bool
        Whether initialisation, finding the guard across, makes its changes and solves again: for modes
        that say which branch of an equation holds, such as the side that a gate selects.
    """
    if direction not in _DIRECTIONS:
        raise DeviceError(f"guard direction {direction!r}: it is one of {', '.join(_DIRECTIONS)}")

    def mark(function: Callable[..., Any]) -> Any:
        return Guard(function, _DIRECTIONS[direction], dict(when or {}), dict(then), delay, cancel,
                     inspect.getdoc(function) or "", settles)

    return mark


def timer(at: str, *, then: Mapping[str, Any], doc: str = "") -> Any:
    """Declare a time event.

    Parameters
    ----------
    at : str
        Name of the parameter that is its time (s); a time of infinity never comes.
    then : mapping
        What changes, as of :func:`guard`.
    doc : str
        What happens, in words.
    """
    return Timer(at, dict(then), doc)


def quantity(unit: str, doc: str = "") -> Callable[..., Any]:
    """Declare a derived quantity ``f(s, *ports)``: for results, for objectives, for other devices.

    Parameters
    ----------
    unit : str
        Of what the decorated function returns; empty of what has none.
    doc : str
    """

    def mark(function: Callable[..., Any]) -> Any:
        return Quantity(unit, function, doc)

    return mark


class Quantity(Declaration):
    """A named expression of a device; made by :func:`quantity`."""

    def __init__(self, unit: str, function: Callable[..., Any], doc: str = ""):
        self.unit, self.function = unit, function
        self.doc = doc or (inspect.getdoc(function) or "")


@dataclass
class Declarations:
    """All that one device class declares, by kind, in order of declaration."""

    params: dict[str, Param] = field(default_factory=dict)
    fields: dict[str, Field] = field(default_factory=dict)
    states: dict[str, State] = field(default_factory=dict)
    algebraics: dict[str, Algebraic] = field(default_factory=dict)
    inputs: dict[str, Input] = field(default_factory=dict)
    references: dict[str, Reference] = field(default_factory=dict)
    setpoints: dict[str, Setpoint] = field(default_factory=dict)
    modes: dict[str, Mode] = field(default_factory=dict)
    quantities: dict[str, Quantity] = field(default_factory=dict)
    guards: dict[str, Guard] = field(default_factory=dict)
    timers: dict[str, Timer] = field(default_factory=dict)

    def variables(self) -> dict[str, State | Algebraic]:
        """States, then algebraics."""
        return {**self.states, **self.algebraics}

    def readable(self) -> dict[str, Any]:
        """What results have by name: variables, derived quantities, inputs, modes."""
        return {**self.variables(), **self.quantities, **self.inputs, **self.modes}

    def unit(self, name: str) -> str:
        """Unit of the quantity, variable, parameter or input called `name`."""
        for table in (self.states, self.algebraics, self.quantities, self.params, self.inputs, self.setpoints):
            if name in table:
                return table[name].unit
        return ""


_TABLE: dict[type, str] = {Param: "params", Field: "fields", State: "states", Algebraic: "algebraics", Input: "inputs",
                           Reference: "references", Setpoint: "setpoints", Mode: "modes",
                           Quantity: "quantities", Guard: "guards", Timer: "timers"}
_RESERVED = {"time", "omega_b", "base_mva", "id", "model", "name"}  # and what Device has itself


class Device:
    """Base of every device. See the module's text for the contract.

    Attributes
    ----------
    attaches : str or Port, or tuple of these
        The ports: of a class of nodes or devices that a :class:`~gridcore.contract.node.Port` says, or names
        alone. A name that begins with ``bus`` is an AC bus; any other is a device, given in a record by its id.
    naming : str
        How a record without an id is named, from its own fields: ``"GEN{bus}"``.
    source : bool
        Whether it holds the potential of an island by itself (a machine, an infinite bus): that of its first node.
    regulates : bool
        Whether it has a part in the power flow as slack or PV (then it declares the field
        ``control`` and the parameters ``P0``, ``Q0``, ``V0``, ``Qmin``, ``Qmax``, ``Sn``), and
        initialisation finds its set-points so that it injects the power flow's ``P0 + j Q0``.
    plausible : mapping of str to (float or str, float or str)
        ``{"Xdp": (0, "Xd"), "Efd": (0, 10)}``: from and to which number or parameter a parameter, or a variable, input
        or set-point at t0, is likely to be meant. :func:`gridcore.build` warns of others. Subclasses add to it.
    """

    attaches: ClassVar[Any] = ()
    naming: ClassVar[str] = ""
    source: ClassVar[bool] = False
    regulates: ClassVar[bool] = False
    plausible: ClassVar[Mapping[str, tuple[Any, Any]]] = {}
    declares: ClassVar[Declarations] = Declarations()
    contract_error: ClassVar[DeviceError | None] = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.contract_error = None
        try:
            if not isinstance(cls.plausible, Mapping):
                raise DeviceError(f"{cls.__name__}.plausible must be a mapping, such as {{'H': (0.1, 20.0)}}")
            cls.plausible = {k: v for base in cls.__mro__[::-1] for k, v in getattr(base, "plausible", {}).items()}
            if cls.attaches and not isinstance(cls.attaches, Declaration):
                from .node import ports_of  # nodes are devices themselves; none of them has a port

                cls.attaches = ports_of(cls)
            cls.declares = _collect(cls)
        except DeviceError as error:
            if not loading():
                raise
            cls.contract_error = error  # raised when it is registered: the rest of its plugin's module may be well

    def __new__(cls, **fields: Any) -> Any:
        """A *record* of this device, for :meth:`gridcore.case.records.Case.add`; devices have no instances."""
        return Record(cls.__name__, fields)

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        """What is wrong with the parameters of a row taken together, ``"r and x are both zero"``, or None."""
        return None

    @classmethod
    def node_ports(cls) -> tuple[Port, ...]:
        """Its own ports that are nodes."""
        return tuple(port for port in cls.attaches if port.at_node)

    @classmethod
    def bus_ports(cls) -> tuple[Port, ...]:
        """Its own ports that are AC buses."""
        return tuple(port for port in cls.attaches if port.at_bus)

    @classmethod
    def function(cls, name: str) -> Callable[..., Any] | None:
        """One of the contract's functions, unbound, or None where the device has none."""
        found = getattr(cls, name, None)
        return found if callable(found) else None


def _collect(cls: type[Device]) -> Declarations:
    """Walk the class and its bases for declarations; build the guards of limited states."""
    from .consistency import check_declarations  # which is about the classes of this module

    declared = Declarations()
    _declare(declared, "status", Mode(1.0, doc="1 in service, 0 out of service"))
    attributes: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        attributes.update(vars(base))
    for name, value in attributes.items():
        parts = value.parts() if isinstance(value, Composite) else {}
        for part, item in (*parts.items(), (name, value)):
            if isinstance(item, Declaration) and (part in _RESERVED or hasattr(Device, part)):
                raise DeviceError(f"{cls.__name__}.{part}: this name is taken by the framework")
            _declare(declared, part, item)
    for name, state in declared.states.items():
        if state.limits is not None:
            _declare_limits(declared, name, state)
    check_declarations(cls, declared)
    return declared


def _declare(declared: Declarations, name: str, item: Any) -> None:
    """Put one declaration into its table; whatever else stands in a class body is none."""
    if own := next((_TABLE[kind] for kind in type(item).__mro__ if kind in _TABLE), ""):
        item.name = name
        if other := [table for table in _TABLE.values() if table != own and name in getattr(declared, table)]:
            raise DeviceError(f"{name} is declared twice: among the {other[0]} and the {own}")
        getattr(declared, own)[name] = item


def _declare_limits(declared: Declarations, name: str, state: State) -> None:
    """The mode and the guards of a non-windup limit: see :mod:`gridcore.contract.limits`."""
    assert state.limits is not None
    mode, (low, high) = f"{name}_limit", limits.labels(state.limits, state.limit_names)
    _declare(declared, mode, Mode(state.at_limit, doc=f"-1 at {low}, 1 at {high}, 0 between"))
    modes = [mode, *([state.clamp] if state.clamp else [])]
    for side, bound, label, end in limits.sides(state.limits, (low, high)):
        moves = bound in declared.quantities
        reached = limits.Reached(lambda s: getattr(s, name), bound, label, side)
        at = limits.reaching(name, bound, side, state.T, moves), side, {mode: 0}, dict.fromkeys(modes, side)
        off = limits.leaving(name, side, moves), -side, {mode: side}, dict.fromkeys(modes, 0)
        _declare(declared, f"{name}_at_{end}", Guard(*at, doc=f"{name} reaches {label}", limit=reached))
        _declare(declared, f"{name}_off_{end}", Guard(*off, doc=f"{name} leaves {label}", settles=state.at_limit != 0))
