"""Calls of annotated functions: the types are matched at every call, and the body is inlined, or invoked if it is large.

A parameter's shape gives the function's cell ranks; the function is mapped over an argument of higher rank.  A size binds as a
name, or as `(c×n)+c'` or `(c×n)-c'`; any other size expression is an obligation, and so is every fact of the `where`.  The body
sees its arguments as the signature declares them; facts that are known only at a call are not used in it.  What the body needs
was proved at the definition (`check_definition`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from ...lang.diagnostics.model import Code
from ...lang.support.records import replace
from ...lang.syntax.source import Span
from ...lang.tree import program
from ...lang.tree.expressions import (
    Argument,
    BoundedSize,
    Fact,
    Parameter,
    ShapeItem,
    ShapeVariable,
    SizeCall,
    SizeName,
    SizeNumber,
    TupleTypeExpression,
    TypeExpression,
    arrays,
)
from ..core.builder import Builder, condition_decided, statements_if
from ..core.cloning import Cloner
from ..core.operations import BindSize, Block, Compress, CoreBranch, CoreCall, CoreFunction, Invoke, Op, ValueId, Where
from ..diagnostics import show_type
from ..elaborate import type_expressions
from ..elaborate.context import (
    Bindings,
    Context,
    DfnFunction,
    ElaboratedBody,
    FunctionValue,
    OpaqueFunction,
    SignedFunction,
    rebuild,
    with_sizes,
)
from ..elaborate.declarations import declared_grade
from ..elaborate.functions import lift, naming_call
from ..elaborate.type_expressions import DeclaredType, array_types, instantiate, known_size, names_of
from ..elements import ArrayType, Element, Kind, show_element
from ..proof.constraints import Arm, variables_of
from ..proof.obligations import Obligation, Proof, SizeFact
from ..rules.argument_checks import size_expression
from ..sizes.polynomials import ZERO, Size, SizeOrigin, SizeVariable, variable
from ..sizes.size import upper_bound
from ..values.facts import Operand, TupleOperand, Value, is_poisoned, leaves
from . import unify
from .unify import parameters

# ---------------------------------------------------------------------------------------------------- signatures as text

def show_signature(signature: program.Signature) -> str:
    """A signature in the syntax of declarations."""
    operands = [f"({show_signature(operand)})" for operand in signature.operands]
    parts = [_show(p.type) for p in (signature.left, signature.right) if p is not None]
    return " → ".join([*operands, *parts, _show(signature.result)])


def _show(node: TypeExpression) -> str:
    if isinstance(node, TupleTypeExpression):
        return "(" + " ⋄ ".join([_show(item) for item in node.items]) + ")"
    element = node.element.name
    if node.given is not None:
        return f"({node.given.name})"
    if node.element.args:
        element += "<" + "..".join([show_size(arg) for arg in node.element.args]) + ">"
    return element + (f"[{' '.join([show_size(part) for part in node.shape])}]" if node.shape else "")


def show_size(node: ShapeItem) -> str:
    """An item of a shape in the syntax of declarations."""
    match node:
        case SizeNumber():
            return str(node.value)
        case SizeName():
            return node.name
        case ShapeVariable():
            return f"..{node.name}"
        case BoundedSize():
            return f"{node.name}≤{show_size(node.bound)}"
        case SizeCall():
            shown = [show_size(arg) if not isinstance(arg, SizeCall) else f"({show_size(arg)})" for arg in node.args]
            return node.function.join(shown) if len(shown) == 2 else node.function + shown[0]


# ---------------------------------------------------------------------------------------------------- calls

def call(ctx: Context, function: SignedFunction, left: Value | None, right: Value, span: Span) -> Value:
    """Match the arguments, map over frames, inline the body, check the result."""
    signature = function.signature
    if (left is None) != (signature.left is None):
        expected, got = (1, 2) if signature.left is None else (2, 1)
        called = _called(ctx, function, span)
        return ctx.error(
            Code.E130,
            f"`{called}` takes {expected} argument{'s' * (expected > 1)}, got {got}",
            span,
            notes=(*_signature_note(ctx, function, span), *_as_tuple(ctx, function, called, left, right, span)),
        )
    declared = parameters(signature)
    arguments = [v for v in (left, right) if v is not None]
    arrays: list[Operand] = []
    ranks: list[int] = []
    for parameter, value in zip(declared, arguments, strict=True):
        rank = unify.cell_rank(parameter.type)
        if not isinstance(value, Operand) or rank is None:
            continue
        if value.type.rank < rank:
            character = value.type.element.kind is Kind.CHAR and (value.type.rank, rank) == (0, 1)
            cure = ("one character in quotes is a scalar: `,'a'` is a text of it",) if character else ()
            if rank == 1 and value.type.rank == 0 and value.type.element.kind is not Kind.CHAR:
                one = ctx.builder.text(ctx.builder.span_of(value))
                cure = (f"one value for all: `(≢x)⍴{one}` repeats it for each item of x",)
            return ctx.error(
                Code.E131,
                f"`{_called(ctx, function, span)}` needs cells of rank {rank} here, but this argument has rank {value.type.rank}",
                span,
                label=show_type(value.type),
                notes=(*_signature_note(ctx, function, span), *cure),
            )
        arrays.append(value)
        ranks.append(rank)

    def body(cells: list[Operand]) -> Value:
        rest = list(cells)
        args: list[Value] = []
        for parameter, value in zip(declared, arguments, strict=True):
            lifted = isinstance(value, Operand) and unify.cell_rank(parameter.type) is not None
            args.append(rest.pop(0) if lifted else value)
        return _call_cells(ctx, function, declared, args, span)

    mapped = any(value.type.rank > rank for value, rank in zip(arrays, ranks, strict=True))
    notes = _signature_note(ctx, function, span) if mapped else ()
    return lift(ctx, arrays, ranks, lambda cells: body(list(cells)), span, notes)


def _as_tuple(
    ctx: Context, function: SignedFunction, called: str, left: Value | None, right: Value, span: Span
) -> tuple[str, ...]:  # fmt: skip
    """The note that a function of a pair, given two arguments, takes them as a tuple, or the other way about."""
    declared, written = function.signature.right.type, ctx.builder.text(span) or called
    if isinstance(declared, TupleTypeExpression):
        items = [ctx.builder.text(ctx.builder.span_of(v)) for v in (left, right) if isinstance(v, Operand)]
        return (f"its argument is a tuple: `{written} ({' ⋄ '.join(items)})`",) if len(declared.items) == len(items) == 2 else ()
    if left is None and isinstance(right, TupleOperand) and len(right.items) == 2:
        return (f"its arguments stand on both sides of it: `x {written} y`",)
    return ()


def _called(ctx: Context, function: SignedFunction, span: Span) -> str:
    """The name of the function that the program calls: for a call inside the library, the library function that the program
    called."""
    call = ctx.builder.sink.outside(span)
    return function.name if call is span else ctx.builder.source_names.text(call) or function.name


def _signature_note(ctx: Context, function: SignedFunction, span: Span) -> tuple[str, ...]:
    """The note with the signature of a function that the program calls; empty for a call inside the library."""
    inside = ctx.builder.sink.outside(span) is not span
    return () if inside else (f"{function.name} : {show_signature(function.signature)}",)


def _is_unbounded(
    ctx: Context, function: SignedFunction, declared: Sequence[Parameter], bindings: Bindings, span: Span
) -> bool:
    """E122 if a parameter is `idx<k>` and no argument determines k, since its own elements have no known range."""
    for array in (array for parameter in declared for array in arrays(parameter.type)):
        for part in array.element.args if array.element.name == "idx" else ():
            if isinstance(part, SizeName) and bindings.size(part.name) is None:
                name = _called(ctx, function, span)
                message = f"`{name}` takes positions below a bound {part.name}, and nothing bounds this argument"
                notes = ("limit it, `0⌈9⌊x` is below 10, or number what is in it: `(keys code) ← set.classes x`",)
                ctx.error(Code.E122, message, span, notes=(*_signature_note(ctx, function, span), *notes))
                return True
    return False


def _call_cells(
    ctx: Context, function: SignedFunction, declared: Sequence[Parameter], args: list[Value], span: Span
) -> Value:
    bindings = function.unbound() if function.outer is None else function.outer.of_operand()
    notes, types = _signature_note(ctx, function, span), [parameter.type for parameter in declared]
    if not unify.unify(ctx, list(zip(types, args, strict=True)), bindings, _called(ctx, function, span), span, notes):
        return ctx.builder.poison(span)
    if _is_unbounded(ctx, function, declared, bindings, span):
        return ctx.builder.poison(span)
    converted = _converted(ctx, function, declared, args, bindings, span)
    if converted is None:
        return ctx.builder.poison(span)
    facts = _facts(ctx, function, bindings, span)
    if facts is None:
        return ctx.builder.poison(span)
    builder = ctx.builder
    first, promised = builder.next_value, declared_usages(ctx, function.signature, converted, bindings)
    with _body(ctx, function, facts):
        conformed = _result(ctx, function, bindings, converted, facts, span)
    if conformed is None:
        return builder.poison(span)
    value, expected = conformed
    if is_poisoned(value):
        return value
    value = _with_declared_sizes(ctx, value, expected, span)
    if promised:
        results = tuple([x.value for x in leaves(value)])
        builder.constraints.declared_usages.append(CoreCall(span, first, builder.next_value, results, promised))
    return _as_declared(value, expected)


_Conformed: TypeAlias = "tuple[Value, DeclaredType] | None"
"""A result and its declared type; None after an error."""


def _result(
    ctx: Context, function: SignedFunction, bindings: Bindings, args: Sequence[Value], facts: Sequence[SizeFact], span: Span
) -> _Conformed:
    """The result of the body, conformed to its declared type.

    Rules may fail to prove for the sizes of a call what they proved for all sizes.  So if elaborating the body for the call
    reports anything, the ops that were proved at the definition are repeated instead.
    """
    builder, opened = ctx.builder, (dict(bindings.sizes), dict(bindings.opened))
    result = _repeated(ctx, function, bindings, args, facts, span)
    if result is None:
        mark, shared, usages = builder.mark(), builder.sizes.scope(), len(builder.constraints.declared_usages)
        outcome = _elaborated(ctx, function, bindings, args, span)
        if len(builder.sink.diagnostics) == mark[0]:
            return outcome
        body = _repeatable_body(ctx, function, bindings)
        if body is None or body.checks_indices:
            return outcome
        builder.rollback(mark)
        builder.sizes.leave(shared)
        del builder.constraints.declared_usages[usages:]
        bindings.sizes, bindings.opened = opened
        result = _repeated(ctx, function, bindings, args, facts, span)
        assert result is not None
    proof = builder.constraints.proof
    builder.constraints.proof = Proof.RULES if proof is Proof.NONE else proof
    try:
        return _conformed(ctx, function, bindings, result, span)
    finally:
        builder.constraints.proof = proof


def _elaborated(ctx: Context, function: SignedFunction, bindings: Bindings, args: Sequence[Value], span: Span) -> _Conformed:
    """The result of the body elaborated for this call, conformed."""
    if isinstance(function.body, OpaqueFunction):
        (result,) = any_values(ctx, [function.signature.result], bindings)
    else:
        result = ctx.call(_with_sizes(ctx, function, bindings), args[0] if len(args) == 2 else None, args[-1], span)
    return None if is_poisoned(result) else _conformed(ctx, function, bindings, result, span)


def _conformed(ctx: Context, function: SignedFunction, bindings: Bindings, result: Value, span: Span) -> _Conformed:
    """A result of the body, conformed to its declared type."""
    declared = function.signature.result
    declared_at = declared.span if function.outer is None else function.body.span
    with naming_call(ctx.builder, span):
        if not unify.bind_result(ctx, declared, result, bindings, declared_at, of_operand=function.outer is not None):
            return None
        expected = instantiate(ctx, declared, bindings, result)
        if expected is None:
            return None
        return unify.conform(ctx, result, expected, declared_at, f"the result of `{function.name}`"), expected


def _with_sizes(ctx: Context, function: SignedFunction, bindings: Bindings) -> FunctionValue:
    """The body, in which the size names of the signature are integers."""
    body = function.body
    if not isinstance(body, DfnFunction):
        return body
    sizes = dict(bindings.sizes)
    for name, node in function.definitions.items():
        mark = ctx.builder.mark()
        size = size_expression(ctx.builder, node, names_of(ctx, bindings))
        if size is None or len(ctx.builder.sink.diagnostics) > mark[0]:
            ctx.builder.rollback(mark)
        else:
            sizes[name] = size
    closure = body.closure.inner()
    closure.sizes = sizes
    for operand in (Argument.LEFT_OPERAND, Argument.RIGHT_OPERAND) if function.signature.operands else ():
        entry = closure.find(operand)
        if isinstance(entry, SignedFunction):
            closure.entries[operand] = replace(entry, outer=bindings)
    return replace(body, closure=closure)


def any_values(
    ctx: Context, nodes: Sequence[TypeExpression], bindings: Bindings, where: Sequence[Fact] = (),
    ranks: Mapping[str, int] | None = None,
) -> list[Value]:  # fmt: skip
    """Values of declared types without other facts than those of the `where` that can be formed, which become premises.

    Sizes that are not bound are bound to rigid variables, shapes to as many as `ranks` says, and the k of `k≤d` to runtime
    sizes."""
    sizes, written = ctx.builder.sizes, [array for node in nodes for array in arrays(node)]
    for array in written:
        for name in unify.rigid(array):
            if bindings.size(name) is None:
                bindings.sizes[name] = variable(sizes.create(name, SizeOrigin.RIGID))
        for part in array.shape:
            count = None if ranks is None or not isinstance(part, ShapeVariable) else ranks.get(part.name)
            if count is not None and isinstance(part, ShapeVariable) and part.name not in bindings.shapes:
                names = [part.name] if count == 1 else [f"{part.name}{i}" for i in range(count)]
                bindings.shapes[part.name] = tuple([variable(sizes.create(name, SizeOrigin.RIGID)) for name in names])
    type_expressions.meaningful_facts(ctx, where, bindings)
    for part in [part for array in written for part in unify.bounded_sizes(array)]:
        cap = None if part.name in bindings.sizes else size_expression(ctx.builder, part.bound, names_of(ctx, bindings))
        if cap is not None:
            bindings.sizes[part.name] = variable(ctx.builder.runtime_size(part.name, cap, part.span))
    return [_any_value(ctx, node, bindings) for node in nodes]


def _any_value(ctx: Context, node: TypeExpression, bindings: Bindings) -> Value:
    if isinstance(node, TupleTypeExpression):
        return TupleOperand(tuple([_any_value(ctx, item, bindings) for item in node.items]))
    if node.given is not None:
        return ctx.builder.size_value(known_size(ctx, bindings, node.given) or ZERO, node.span)
    type_ = instantiate(ctx, node, bindings)
    return Operand(ctx.builder.fresh(type_, node.span), type_) if isinstance(type_, ArrayType) else ctx.builder.poison(node.span)


# ------------------------------------------------------------------------------------ bodies elaborated once
#
# A body that was proved for all sizes is elaborated once for each combination of ranks and kinds of its variables; a call repeats
# its ops.  Facts about a result beyond its declared type (formulas of its integers) are not repeated.

_UNUSABLE = ElaboratedBody((), {}, {}, (), TupleOperand(()), {}, {}, ())
_OPS_A_NODE = 4
"""The number of ops that are repeated in the time of elaborating one node."""


def _repeated(
    ctx: Context, function: SignedFunction, bindings: Bindings, arguments: Sequence[Value], where_facts: Sequence[SizeFact],
    span: Span,
) -> Value | None:  # fmt: skip
    """The result of a call by repeating the ops of the elaborated body; None if the body must be elaborated for this call."""
    instance = bindings.instance()
    if instance not in function.bodies:
        function.bodies[instance] = None
        return None
    body = _repeatable_body(ctx, function, bindings)
    if body is None:
        return None
    sizes = {size: known for name, size in body.sizes.items() if (known := bindings.size(name)) is not None}
    for name, shape in body.shapes.items():
        sizes.update(zip(shape, bindings.shapes[name], strict=True))
    builder = ctx.builder
    values = dict(zip(body.arguments, [x.value for argument in arguments for x in leaves(argument)], strict=True))
    free, invoked = _are_free(builder, sizes.values(), where_facts), None if builder.inlines_calls else body.function
    plain = Cloner(builder, span, values, sizes)
    needed = [SizeFact(fact.relation, plain.size(fact.left), plain.size(fact.right)) for fact in body.open_indices]
    if body.checks_indices and not free and (not invoked or any(builder.constraints.decided(fact) is False for fact in needed)):
        return None
    builder.constraints.open_indices.update(needed)
    if invoked:
        return _invoked(ctx, invoked, body.result, plain, span)
    cloner = _BodyCloner(builder, span, values, sizes, is_free=free)
    with naming_call(builder, span):
        cloner.ops(body.ops)
    ctx.nodes += len(cloner.values) // _OPS_A_NODE
    ctx.spend(span)
    for value, name in body.names.items():
        builder.source_names.add(cloner.value(value), name)
    for value, spans in body.mentions.items():
        ctx.mentions.setdefault(cloner.value(value), []).extend(spans)
    builder.constraints.declared_usages += [call for usage in body.usages if (call := cloner.usage(usage)) is not None]
    return rebuild(body.result, [Operand(cloner.value(x.value), cloner.type(x.type)) for x in leaves(body.result)])


def _invoked(ctx: Context, function: CoreFunction, result: Value, cloner: Cloner, span: Span) -> Value:
    """The result of a call of a shared function; `cloner` has the values and sizes of the call."""
    ctx.spend(span)
    args = tuple([cloner.value(entry.value) for entry in function.core.inputs])
    sizes = tuple([cloner.size(variable(size)) for size in function.sizes])
    defines: list[SizeVariable] = []
    for size, _, _ in function.defines:
        _, why = ctx.builder.sizes.spans[size]
        cap = cloner.size(upper_bound(variable(size)))
        defines.append(ctx.builder.runtime_size(size.name.rstrip("0123456789"), cap, span, why, size.minimum, size.origin))
        cloner.sizes[size] = variable(defines[-1])
    types = [cloner.type(x.type) for x in leaves(result)]
    return rebuild(result, ctx.builder.emit_many(lambda ids: Invoke(ids, function, args, sizes, tuple(defines)), types, span))


def _repeatable_body(ctx: Context, function: SignedFunction, bindings: Bindings) -> ElaboratedBody | None:
    """The body elaborated for the ranks and kinds of a call and all sizes; None if calls cannot repeat it."""
    if function.signature.operands or function.outer is not None:
        return None
    instance = bindings.instance()
    body = function.bodies.get(instance)
    if body is None:
        function.bodies[instance] = _UNUSABLE
        function.bodies[instance] = body = ctx.elaborated_body(ctx, function, instance) or _UNUSABLE
    return None if body is _UNUSABLE or any(bindings.size(name) is None for name in body.sizes) else body


def _are_free(builder: Builder, sizes: Collection[Size], where_facts: Sequence[SizeFact]) -> bool:
    """Are the sizes of a call different variables of which the `where` says all that is known, as at the definition?"""
    variables = {v for size in sizes for v in size.variables() if size == variable(v) and v.cap is None and not v.minimum}
    arms = [scope for scope in builder.constraints.scopes if isinstance(scope, Arm)]
    known = [*builder.constraints.premises, *[fact for arm in arms for facts in arm.alternatives for fact in facts]]
    return len(variables) == len(sizes) and all(fact in where_facts or variables.isdisjoint(variables_of(fact)) for fact in known)


class _BodyCloner(Cloner):
    """Repeats the ops of a body at a call.

    Equal masks and integers share a size with those of the caller, and branches whose condition the sizes of the call decide
    become one arm.  `is_free`: the sizes are distinct variables, so that only sizes of masks and integers can decide a condition.
    """

    def __init__(
        self, builder: Builder, span: Span, values: Mapping[ValueId, ValueId], sizes: Mapping[SizeVariable, Size],
        *, is_free: bool,
    ) -> None:  # fmt: skip
        super().__init__(builder, span, values, sizes)
        self.is_free = is_free

    def runtime_size(self, op: Op, size: SizeVariable) -> SizeVariable:
        builder, (span, why) = self.builder, self.builder.sizes.spans[size]
        match op:
            case Compress() | Where():
                mask = self.value(op.mask)
                return builder.mask_size(Operand(mask, builder.types[mask]), self.cap(size), span)
            case BindSize():
                return builder.integer_size(self.value(op.value), self.cap(size), span, size.minimum)
            case _:
                name = size.name.rstrip("0123456789")
                return builder.runtime_size(name, self.cap(size), span, why, size.minimum, size.origin)

    def op(self, op: Op) -> Op:
        known = self._decided(self.value(op.condition)) if isinstance(op, CoreBranch) else None
        if known is None or not isinstance(op, CoreBranch):
            return super().op(op)
        arm = op.then if known else op.otherwise
        for inner in arm.ops:
            self.op(inner)
        self.values.update(zip(op.results, map(self.value, arm.results), strict=True))
        self.sizes.update({size: self.size(then if known else otherwise) for size, then, otherwise in op.sizes})
        return op

    def _decided(self, condition: ValueId) -> bool | None:
        """Do the sizes of the call decide a condition?"""
        holding, opposite = [statements_if(self.builder, condition, holds) for holds in (True, False)]
        sizes = [fact for facts in (*holding, *opposite) for fact in facts if isinstance(fact, SizeFact)]
        if not any(fact.is_runtime() or not self.is_free for fact in sizes):
            return None
        return condition_decided(self.builder, holding, opposite)

    def block(self, block: Block) -> Block:
        shared, premises = self.builder.sizes.scope(), len(self.builder.constraints.premises)
        copy = super().block(block)
        self.builder.sizes.leave(shared)
        del self.builder.constraints.premises[premises:]
        return copy

    def usage(self, call: CoreCall) -> CoreCall | None:
        """The quantities of a call in the body, at the repeated ops; None if none of its ops is left."""
        originals = sorted(self.values)
        inside = originals[bisect_left(originals, call.first) : bisect_left(originals, call.last)]
        if not inside:
            return None
        first, last = self.value(inside[0]), ValueId(self.value(inside[-1]) + 1)
        reads = [(self.value(x), self.size(low), None if high is None else self.size(high)) for x, low, high in call.reads]
        return CoreCall(call.span, first, last, tuple(map(self.value, call.results)), tuple(reads))


def _converted(
    ctx: Context, function: SignedFunction, declared: Sequence[Parameter], args: list[Value], bindings: Bindings, span: Span
) -> list[Value] | None:  # fmt: skip
    """The arguments as the signature declares them; None after an error.

    The declared types are formed as if the `where` held, which is required next (`_facts`).
    """
    notes = _signature_note(ctx, function, span)
    what = f"this argument of `{_called(ctx, function, span)}`"

    def convert(node: TypeExpression, value: Value) -> Value:
        if isinstance(node, TupleTypeExpression):
            items = value.items if isinstance(value, TupleOperand) else ()
            return TupleOperand(tuple([convert(*pair) for pair in zip(node.items, items, strict=True)]))
        given = node.given
        if given is not None:
            return ctx.builder.size_value(known_size(ctx, bindings, given) or ZERO, span)
        expected = instantiate(ctx, node, bindings, value)
        if expected is None:
            return ctx.builder.poison(span)
        conformed = unify.conform(ctx, value, expected, _argument_span(ctx, value, span), what, notes)
        return conformed if is_poisoned(conformed) else _as_declared(conformed, expected)

    assumed = type_expressions.meaningful_facts(ctx, function.signature.where, bindings)
    try:
        converted = [convert(parameter.type, value) for parameter, value in zip(declared, args, strict=True)]
    finally:
        ctx.builder.constraints.withdraw(assumed)
    return None if any(map(is_poisoned, converted)) else converted


def declared_usages(
    ctx: Context, signature: program.Signature, args: Sequence[Value], bindings: Bindings
) -> tuple[tuple[ValueId, Size, Size | None], ...]:
    """(argument, least, most) reads of each argument whose quantity the signature states."""
    grades: list[tuple[ValueId, Size, Size | None]] = []
    for parameter, arg in zip(parameters(signature), args, strict=True):
        if parameter.quantity is None or parameter.quantity.low is None:
            continue
        grade = declared_grade(ctx, parameter.quantity, bindings)
        if grade is not None:
            grades += [(x.value, grade.low, grade.high) for x in leaves(arg)]
    return tuple(grades)


def _argument_span(ctx: Context, value: Value, span: Span) -> Span:
    """The span of an argument's last use, else that of the call."""
    return ctx.builder.source_names.uses.get(value.value, span) if isinstance(value, Operand) else span


def _with_declared_sizes(ctx: Context, value: Value, expected: DeclaredType, span: Span) -> Value:
    """The result with the formulas of the signature as its sizes, to which those of the body were proved equal."""
    pairs = zip(leaves(value), array_types(expected), strict=True)
    return rebuild(value, [x if x.type.shape == t.shape else with_sizes(ctx, x, t.shape, span) for x, t in pairs])


def _as_declared(value: Value, expected: DeclaredType) -> Value:
    """The argument or result with only the facts of its declared type; its sizes keep their form."""
    pairs = zip(leaves(value), array_types(expected), strict=True)
    return rebuild(value, [Operand(x.value, ArrayType(t.element, x.type.shape, t.permutation)) for x, t in pairs])


@contextmanager
def _body(ctx: Context, function: SignedFunction, where_facts: list[SizeFact]) -> Iterator[None]:
    """The scope of a body: the facts of the `where` are premises, the proof of the body is reused, and the index origin is that
    of its file."""
    builder = ctx.builder
    before, origin = builder.constraints.proof, builder.index_origin
    builder.index_origin = function.file.index_origin
    if function.outer is not None:  # a function passed as an operand was not proved with the operator
        builder.constraints.proof = Proof.NONE
    else:
        builder.constraints.proof = function.proof if before is Proof.NONE or function.proof is Proof.SOLVER else before
    new = [fact for fact in where_facts if fact not in builder.constraints.premises]
    builder.constraints.premises += new
    try:
        yield
    finally:
        builder.constraints.proof, builder.index_origin = before, origin
        builder.constraints.withdraw(new)


def _facts(ctx: Context, function: SignedFunction, bindings: Bindings, span: Span) -> list[SizeFact] | None:
    """Require the `where` at this call; its facts, or None after an error."""
    where_facts: list[SizeFact] = []
    good = True
    for fact, _ in type_expressions.facts(ctx, function.signature.where, bindings):
        message = f"`{function.name}` needs {fact}"
        good = ctx.builder.require(Obligation(fact, Code.E201, span, message, notes=("stated by its `where`",))) and good
        if fact not in where_facts:
            where_facts.append(fact)
    for node in function.signature.where:
        if node.right is None and isinstance(node.left, SizeName):
            good = _class_holds(ctx, node, bindings.elements.get(node.left.name), function.name, span) and good
    return where_facts if good else None


def _class_holds(ctx: Context, node: Fact, element: Element | None, name: str, span: Span) -> bool:
    assert isinstance(node.left, SizeName)
    if element is None:
        ctx.error(Code.E011, f"`{node.left.name}` is not an element variable of this signature", node.span)
        return False
    kind = element.kind
    is_number = kind is not Kind.CHAR and element.unit is None
    holds = {
        "num": is_number,
        "real": is_number and not kind.is_complex,
        "int": is_number and (kind.is_integer or kind is Kind.BOOL),
        "ord": not kind.is_complex,
    }[node.relation]
    if not holds:
        ctx.error(Code.E300, f"`{name}` needs {node.left.name} {node.relation}, but it is {show_element(element)} here", span)
    return holds
