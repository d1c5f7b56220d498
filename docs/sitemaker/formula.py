"""Equations of a device as formulas: its functions are called on symbols that remember what is done to them.

Quantities stay symbols, as in the author's text; numpy's operators and functions arrive by its own protocols.
"""

from __future__ import annotations

import inspect
import math
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

GREEK = {"alpha", "beta", "gamma", "delta", "epsilon", "theta", "kappa", "lambda", "mu", "rho", "sigma",
         "tau", "phi", "psi", "omega", "Delta", "Omega"}
SMALL = 5  # shorter expressions are written out wherever they stand
LEAF = "leaf"


class Expression(np.lib.mixins.NDArrayOperatorsMixin):
    """What numpy function `op` makes of `args`; of a leaf, its name."""

    __slots__ = ("_args", "_op")
    __hash__ = object.__hash__

    def __init__(self, op: str, args: tuple[Any, ...]):
        self._op, self._args = op, args

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **_: Any) -> Any:
        return _simplified(ufunc.__name__, inputs)

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        if function is np.where:
            condition, value, otherwise = args
            args = condition, _knowing(value, condition, 1), _knowing(otherwise, condition, 2)
        return Expression(function.__name__, args)

    def __bool__(self) -> bool:
        raise TypeError("truth value of a symbol: np.where says which case holds")


class Leaf(Expression):
    """A symbol. Its attributes are symbols, too: a view of a device, or of a port, is a symbol."""

    __slots__ = ()

    def __init__(self, name: str = ""):
        super().__init__(LEAF, (name,))

    def __getattr__(self, name: str) -> Leaf:
        if name.startswith("_"):
            raise AttributeError(name)
        return Leaf(f"{self._args[0]}.{name}".lstrip("."))


def call(function: Callable[..., Any]) -> Any:
    """What a function of views gives on symbols."""
    _, *ports = inspect.signature(function).parameters
    return function(Leaf(), *map(Leaf, ports))


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, Expression) and isinstance(b, Expression):
        return a is b or (a._op == b._op and len(a._args) == len(b._args) and all(map(_same, a._args, b._args)))
    return not isinstance(a, Expression) and not isinstance(b, Expression) and a == b


def _knowing(node: Any, condition: Any, branch: int) -> Any:
    """An expression where that condition is decided: guards against a division by zero fall away."""
    if not isinstance(node, Expression) or node._op == LEAF:
        return node
    if node._op == "where" and _same(node._args[0], condition):
        return node._args[branch]
    args = tuple(_knowing(arg, condition, branch) for arg in node._args)
    return node if all(map(lambda a, b: a is b, args, node._args)) else _simplified(node._op, args)


def _simplified(op: str, args: tuple[Any, ...]) -> Any:
    """Without factors of one, terms of zero and double signs, which helpers of several models leave."""
    def is_number(arg: Any, value: float) -> bool:
        return not isinstance(arg, Expression) and arg == value

    if op == "multiply" and any(is_number(arg, 0.0) for arg in args):
        return 0.0
    if op in ("add", "multiply"):
        rest = [arg for arg in args if not is_number(arg, float(op == "multiply"))]
        if len(rest) < 2:
            return rest[0]
    if op == "multiply" and all(isinstance(arg, Leaf) for arg in args) and args[0]._args == args[1]._args:
        return Expression("square", args[:1])
    negative = [isinstance(arg, Expression) and arg._op == "negative" for arg in args]
    if op == "multiply" and any(negative):
        bare = tuple(arg._args[0] if minus else arg for arg, minus in zip(args, negative, strict=True))
        product = _simplified(op, bare)
        return product if all(negative) else Expression("negative", (product,))
    if op in ("add", "subtract") and negative[1]:
        return Expression("subtract" if op == "add" else "add", (args[0], args[1]._args[0]))
    if op == "negative" and negative[0]:
        return args[0]._args[0]
    if (op == "subtract" and is_number(args[1], 0.0)) or (op == "divide" and is_number(args[1], 1.0)):
        return args[0]
    return Expression(op, args)


class Writer:
    """LaTeX of expressions; what several of them share, or one has twice, is written once and named.

    Attributes
    ----------
    named : list of (str, str)
        Name and LaTeX of what is shared, each after what it is made of.
    """

    def __init__(self, expressions: Iterable[Any]):
        self._numbers: dict[Any, int] = {}  # what is built alike has one number
        self._known: dict[int, tuple[Expression, int]] = {}  # with the expression, so that no other has its id
        self._names: dict[int, str] = {}
        seen: Counter[int] = Counter()
        sizes: dict[int, int] = {}
        order: list[tuple[int, Expression]] = []

        def visit(node: Any) -> int:
            key = self._key(node)
            seen[key] += 1
            if seen[key] == 1:
                below = [visit(arg) for arg in node._args] if isinstance(node, Expression) and node._op != LEAF else []
                sizes[key] = 1 + sum(sizes[each] for each in below)
                order.append((key, node))
            return key

        for each in expressions:
            visit(each)
        self.named: list[tuple[str, str]] = []
        for key, node in order:
            if seen[key] > 1 and sizes[key] >= SMALL:
                text = self(node)
                self._names[key] = f"a_{{{len(self.named) + 1}}}"
                self.named.append((self._names[key], text))

    def _key(self, node: Any) -> int:
        if isinstance(node, Expression):
            if id(node) not in self._known:
                parts: Any = node._args if node._op == LEAF else tuple(map(self._key, node._args))
                self._known[id(node)] = node, self._numbers.setdefault((node._op, parts), len(self._numbers))
            return self._known[id(node)][1]
        return self._numbers.setdefault(float(node), len(self._numbers))

    def __call__(self, node: Any) -> str:
        """LaTeX of an expression or a number."""
        return self.part(node)[0]

    def part(self, node: Any) -> tuple[str, int]:
        """LaTeX, and how strongly it binds: 0 relation, 1 sum, 2 product, 3 power, 4 whole."""
        if not isinstance(node, Expression):
            return number(node)
        name = self.name(node)
        return (name, 4) if name else _write(node, self)

    def name(self, node: Any) -> str:
        """What a shared expression is called, or nothing."""
        return self._names.get(self._key(node), "")

    def bound(self, node: Any, strength: int) -> str:
        """LaTeX, in parentheses where it binds less than asked."""
        text, has = self.part(node)
        return text if has >= strength else rf"\left({text}\right)"


def number(value: Any) -> tuple[str, int]:
    """LaTeX of a number."""
    value = float(value)
    if math.isinf(value):
        return (r"\infty", 4) if value > 0 else (r"-\infty", 1)
    mantissa, _, power = f"{value:.10g}".partition("e")
    if power:
        ten = f"10^{{{int(power)}}}"
        return (ten, 3) if mantissa == "1" else (rf"{mantissa} \cdot {ten}", 2)
    return mantissa, 4 if value >= 0 else 1


def symbol(name: str) -> str:
    """LaTeX of a name as it stands in code: Greek letters as such, ports before a dot."""
    *ports, own = name.split(".")
    stem, _, index = own.partition("_")
    if not ports and stem in GREEK:
        return rf"\{stem}" + (rf"_{{\text{{{index}}}}}" if index else "")
    return rf"\text{{{name}}}"


RELATIONS = {"less": "<", "less_equal": r"\le", "greater": ">", "greater_equal": r"\ge", "equal": "=",
             "not_equal": r"\ne", "logical_and": r"\wedge", "logical_or": r"\vee", "bitwise_and": r"\wedge",
             "bitwise_or": r"\vee"}
NAMED = {**{name: rf"\{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "arcsin", "arccos",
                                            "arctan")},
         "log": r"\ln", "maximum": r"\max", "minimum": r"\min", "arctan2": r"\operatorname{atan2}",
         "sign": r"\operatorname{sgn}"}


def _write(node: Expression, w: Writer) -> tuple[str, int]:
    op, args = node._op, node._args
    if op == LEAF:
        return symbol(args[0]), 4
    if op in ("add", "subtract"):
        return f"{w.bound(args[0], 1)} {'+' if op == 'add' else '-'} {w.bound(args[1], 1 if op == 'add' else 2)}", 1
    if op == "multiply":
        dot = r"\cdot" if not isinstance(args[1], Expression) else r"\,"
        if not isinstance(args[0], Expression):
            return rf"{w(args[0])} {dot} {w.bound(args[1], 2)}", min(2, number(args[0])[1])
        return rf"{w.bound(args[0], 2)} {dot} {w.bound(args[1], 2)}", 2
    if op in ("divide", "true_divide"):
        return rf"\frac{{{w(args[0])}}}{{{w(args[1])}}}", 3
    if op == "negative":
        return f"-{w.bound(args[0], 2)}", 1
    if op in ("power", "float_power", "square"):
        exponent = "2" if op == "square" else w(args[1])
        return rf"{{{w.bound(args[0], 4)}}}^{{{exponent}}}", 3
    if op == "sqrt":
        return rf"\sqrt{{{w(args[0])}}}", 4
    if op in ("absolute", "fabs"):
        return rf"\left|{w(args[0])}\right|", 4
    if op == "where":
        return _cases(node, w), 2
    if op in RELATIONS:
        return f"{w.bound(args[0], 1)} {RELATIONS[op]} {w.bound(args[1], 1)}", 0
    if op == "logical_not":
        return rf"\neg \left({w(args[0])}\right)", 3
    name = NAMED.get(op) or rf"\operatorname{{{op.replace('_', ' ')}}}"
    return rf"{name}\left({', '.join(map(w, args))}\right)", 3


def _cases(node: Any, w: Writer) -> str:
    """``np.where``, with those in its last branch, as one distinction of cases."""
    lines = []
    while isinstance(node, Expression) and node._op == "where" and (not lines or not w.name(node)):
        condition, value, node = node._args
        shown = w(condition)
        if isinstance(condition, Leaf):
            shown += r" \ne 0"
        lines.append(rf"{w(value)} & \text{{if }} {shown}")
    lines.append(rf"{w(node)} & \text{{otherwise}}")
    return r"\begin{cases} " + r" \\ ".join(lines) + r" \end{cases}"
