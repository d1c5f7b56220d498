"""C code of traced functions: the loop over the instances of each, some of which are taken at once, in lanes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import casadi as ca

_LANES = Path(__file__).with_name("native") / "lanes.h"
_STACK = 2000  # numbers of an instance that a kernel may have on the stack, which is small in some threads
_KERNEL = """
void {name}_batch(long count, const double *Z, const int *gather, double *out, const int *scatter,
                  const double *scale, const int *rows)
{{
    {where}lanes {work}, res[{n_out} + 1];
    const int *g[LANES];
    for (long i = 0; i < count; i += LANES) {{
        const long some = count - i < LANES ? count - i : LANES;
        for (long l = 0; l < LANES; ++l) g[l] = gather + (i + (l < some ? l : 0)) * {n_in};
{operations}
        add(some, {n_out}, res, out, scatter, scale, rows);
        scatter += LANES * {n_out};
        rows += scale ? LANES * {n_out} : 0;
    }}
}}
"""
# Sine and cosine of one value are made together: compilers make one call of the two, or leave out what nobody reads.
_TURNS = {ca.OP_SIN: "sin", ca.OP_COS: "cos"}
_TURN = """        {2}lanes sin{0}, cos{0}; sin{0} = cos{0} = {1};
        for (long l = 0; l < some; ++l) sin{0}[l] = sin({1}[l]), cos{0}[l] = cos({1}[l]);"""
_INFINITE = {"nan": "NAN", "inf": "INFINITY", "-inf": "-INFINITY"}


def _of_each(form: str, names: str) -> dict[int, str]:
    return {getattr(ca, f"OP_{name}".upper()): form.format(name) for name in names.split()}


# The operations, of what stands at {1} and {2}, into {0}; functions that take long are called for no lane in vain.
OPERATIONS = {
    **_of_each("{{0}} = each({}, some, {{1}});",
               "exp log tan asin acos atan sinh cosh tanh asinh acosh atanh erf log1p expm1"),
    **_of_each("{{0}} = each({}, LANES, {{1}});", "sqrt fabs floor ceil sign"),
    **_of_each("{{0}} = each2({}, some, {{1}}, {{2}});", "pow fmod atan2 copysign hypot remainder"),
    **_of_each("{{0}} = each2({}, LANES, {{1}}, {{2}});", "fmin fmax"),
    ca.OP_CONSTPOW: "{0} = each2(pow, some, {1}, {2});", ca.OP_ASSIGN: "{0} = {1};", ca.OP_NEG: "{0} = -{1};",
    ca.OP_ADD: "{0} = {1} + {2};", ca.OP_SUB: "{0} = {1} - {2};", ca.OP_MUL: "{0} = {1} * {2};",
    ca.OP_DIV: "{0} = {1} / {2};", ca.OP_INV: "{0} = 1.0 / {1};", ca.OP_SQ: "{0} = {1} * {1};",
    ca.OP_TWICE: "{0} = 2.0 * {1};", ca.OP_LT: "{0} = truth({1} < {2});", ca.OP_LE: "{0} = truth({1} <= {2});",
    ca.OP_EQ: "{0} = truth({1} == {2});", ca.OP_NE: "{0} = truth({1} != {2});",
    ca.OP_NOT: "{0} = truth({1} == 0.0);", ca.OP_AND: "{0} = truth(({1} != 0.0) & ({2} != 0.0));",
    ca.OP_OR: "{0} = truth(({1} != 0.0) | ({2} != 0.0));", ca.OP_IF_ELSE_ZERO: "{0} = only({1}, {2});",
}


def c_source(functions: Sequence[ca.Function]) -> str:
    """C code of the functions (one vector in, one vector out) with their batch loops."""
    return _LANES.read_text() + "".join(_kernel(function) for function in functions)


def _kernel(function: ca.Function) -> str:
    n_in, n_out, n_work = function.nnz_in(0), function.nnz_out(0), function.sz_w() + 1
    if n_in + n_out + n_work > _STACK:
        where, work, place = "static _Thread_local ", f"a[{n_work}]", "a[{}]".format
    else:
        where, work, place = "", ", ".join(map("a{}".format, range(n_work))), "a{}".format
    return _KERNEL.format(name=function.name(), n_in=n_in, n_out=n_out, where=where, work=work,
                          operations="\n".join(_operations(function, list(map(place, range(n_work))), where)))


def _operations(function: ca.Function, places: Sequence[str], where: str) -> Iterator[str]:
    """A line for each operation of a function, on these places; `where` others are."""
    operation, read, written = function.instruction_id, function.instruction_input, function.instruction_output
    writer, turned = dict[int, int](), dict[int, int]()  # of what is at a place; the first that turned what one wrote
    for k in range(function.n_instructions()):
        op, of, to = operation(k), read(k), written(k)
        if op == ca.OP_INPUT:
            yield f"        {places[to[0]]} = READ({of[1]});"
        elif op == ca.OP_OUTPUT:
            yield f"        res[{to[1]}] = {places[of[0]]};"
            continue
        elif op == ca.OP_CONST:
            value = function.instruction_constant(k)
            yield f"        {places[to[0]]} = SAME({_INFINITE.get(str(value)) or value.hex()});"
        elif op in _TURNS:
            if (first := turned.setdefault(writer[of[0]], k)) == k:
                yield _TURN.format(k, places[of[0]], where)
            yield f"        {places[to[0]]} = {_TURNS[op]}{first};"
        else:
            yield "        " + OPERATIONS[op].format(*(places[i] for i in (*to, *of)))
        writer[to[0]] = k
