"""Infers the signature of a function by elaborating it speculatively on arguments of symbolic sizes.

An annotated function is elaborated on arguments of its declared types.  Any other function is tried on floats (then integers,
bools, text) of rank one and two, and the facts about sizes that it needs become its `where`; a function that accepts none of
these is generic and is checked at each use.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce

from ...lang.support.records import dataclass, replace
from ...lang.syntax.source import Span
from ...lang.tree.expressions import ITEMS, ArrayTypeExpression, arrays
from ..core.builder import Builder
from ..core.operations import Block, Core, CoreInput, CoreOutput, defined_and_read
from ..elements import ArrayType, Element, Kind
from ..proof.obligations import Relation, SizeFact
from ..signatures.check_definition import samples, symbolic_arguments
from ..signatures.unify import parameters
from ..sizes.polynomials import Size, SizeOrigin, SizeVariable, variable
from ..usage.backward_analysis import NONE, Grade, demands_of_block
from ..usage.check_moves import grade_text, show_instance
from ..values.facts import Operand, Value, is_poisoned, leaves
from .context import Bindings, BrokenFunction, BudgetExceeded, Context, FunctionValue, NamingMode, SignedFunction

# ---------------------------------------------------------------------------------------------------- as a program

def program_of(builder: Builder, arguments: Sequence[Operand], block: Block) -> Core:
    """A block as a program whose inputs are its arguments and captured values; it stays valid when the builder drops the
    block."""
    defined, read = defined_and_read(block)
    input_ids = dict.fromkeys([*(x.value for x in arguments), *sorted(read - defined)])
    values = defined | read | set(input_ids)
    spans = {value: builder.spans[value] for value in values}
    inputs = tuple([CoreInput(f"argument {at + 1}", value, None, spans[value]) for at, value in enumerate(input_ids)])
    outputs = tuple([CoreOutput(f"result {at + 1}", value, spans[value]) for at, value in enumerate(block.results)])
    types = {value: builder.types[value] for value in values}
    return Core(Block((), block.ops, ()), inputs, (), outputs, (), types, spans, {}, (), ())


# ---------------------------------------------------------------------------------------------------- instances

_KINDS = (Kind.F64, Kind.I64, Kind.BOOL, Kind.CHAR)
_NUMBERS = (Kind.F64, Kind.I64)
_MONADIC = ((1,), (2,))
_DYADIC = ((1, 1), (2, 2), (2, 1))
_LAST_RESORT_MONADIC = ((0,), (3,))
_LAST_RESORT_DYADIC = ((1, 2), (0, 1), (1, 0), (0, 0))
_NAMES = ((), ("n",), ("n", "m"), ("n", "m", "k"))
_LEFT_NAMES = ((), ("n",), ("n", "k"))
_RIGHT_NAMES = ((), ("m",), ("l", "m"))


@dataclass(frozen=True, slots=True)
class Instance:
    """One way to apply a function: the types of the arguments (left first) with the reads of their elements, and of the results.

    `facts` are the conditions on sizes.  `program` is the application alone; `equal` gives some of its sizes in terms of the
    others."""

    arguments: tuple[tuple[Grade, ArrayType], ...]
    results: tuple[ArrayType, ...]
    facts: tuple[SizeFact, ...]
    program: Core
    equal: Mapping[SizeVariable, Size]


def instances(ctx: Context, name: str, function: FunctionValue) -> list[tuple[str, Instance]]:
    """The instances of a function, each with its signature as text; empty if it is generic."""
    if isinstance(function, BrokenFunction):
        return []
    if isinstance(function, SignedFunction):
        bindings = function.unbound()
        instance = _try_on(ctx, function, lambda: symbolic_arguments(ctx, function.signature, bindings), function.span)
        if instance is None:
            return []
        return [(_as_written(name, function, _of_all_ranks(ctx, function, instance), bindings), instance)]
    inferred = _inferred(ctx, function)
    return [(show_instance(name, one.arguments, one.results, one.facts), one) for one in inferred]


def _of_all_ranks(ctx: Context, function: SignedFunction, instance: Instance) -> Instance:
    """The instance with the reads for other numbers of axes of its shape variables, where these are numbers."""
    grades, types = zip(*instance.arguments, strict=True)
    for sample in [sample for sample in samples(function.signature) if sample[0]][1:]:
        arguments = partial(symbolic_arguments, ctx, function.signature, function.unbound(), sample)
        other = _try_on(ctx, function, arguments, function.span)
        pairs = zip(grades, grades if other is None else [grade for grade, _ in other.arguments], strict=True)
        grades = tuple([one.join(read) if one.is_number and read.is_number else one for one, read in pairs])
    return replace(instance, arguments=tuple(zip(grades, types, strict=True)))


def _as_written(name: str, function: SignedFunction, instance: Instance, bindings: Bindings) -> str:
    """The signature of the program, with the quantities that it leaves out."""
    items = {only: variable(replace(only, name=ITEMS + name)) for name, (size,) in bindings.shapes.items() for only in
             size.variables()}  # fmt: skip
    text, start = function.file.source.text, function.signature.span.start
    parts, grades = [], list(instance.arguments)
    for parameter in parameters(function.signature):
        sizes = len(arrays(parameter.type))
        grade = reduce(Grade.join, [_substituted(one, items) for one, _ in grades[:sizes]])
        del grades[:sizes]
        parts.append(text[start : parameter.span.start])
        if parameter.quantity is None and not (isinstance(parameter.type, ArrayTypeExpression) and parameter.type.given):
            parts.append(f"{grade_text(grade)} ")
        start = parameter.span.start
    lines = re.sub("⍝.*", "", "".join([*parts, text[start : function.signature.span.end]])).splitlines()
    written = lines[0]
    for line in lines[1:]:  # in a tuple, the end of a line separates items
        written += (" ⋄ " if written.count("(") > written.count(")") else " ") + line
    return f"{name} :{' '.join(written.split()).partition(':')[2]}"


def _inferred(ctx: Context, function: FunctionValue) -> list[Instance]:
    """The instances of a function without a signature."""
    valences = ((_MONADIC, _LAST_RESORT_MONADIC, (_NAMES,)), (_DYADIC, _LAST_RESORT_DYADIC, (_LEFT_NAMES, _RIGHT_NAMES)))
    for expected, others, names in valences:
        usual = [instance for ranks in expected if (instance := _of_ranks(ctx, function, ranks, names, _KINDS)) is not None]
        if usual:
            return usual
        for ranks in others:
            instance = _of_ranks(ctx, function, ranks, names, _NUMBERS)
            if instance is not None:
                return [instance]
    return []


def _of_ranks(
    ctx: Context, function: FunctionValue, ranks: Sequence[int], names: Sequence[Sequence[Sequence[str]]],
    kinds: Sequence[Kind],
) -> Instance | None:  # fmt: skip
    """The instance for arguments of these ranks and of the first kind that the function accepts; None if there is none."""
    for kind in kinds:
        for suffix in ("", *map(str, range(2, 9))):

            def arguments(kind: Kind = kind, suffix: str = suffix) -> list[Operand]:
                called = [[name + suffix for name in of_rank[rank]] for rank, of_rank in zip(ranks, names, strict=True)]
                return [_argument(ctx, kind, names_of_sizes, function.span) for names_of_sizes in called]

            instance = _try_on(ctx, function, arguments, function.span)
            if instance is None:
                break
            if not _is_ambiguous(instance):
                return instance
    return None


def _is_ambiguous(instance: Instance) -> bool:
    """Does a size that the function captures have the name of a size of its arguments?"""
    sizes = [size for type_ in (*[t for _, t in instance.arguments], *instance.results) for size in type_.shape]
    sizes += [size for fact in instance.facts for size in (fact.left, fact.right)]
    sizes += [size for grade, _ in instance.arguments for size in (grade.low, grade.high) if size is not None]
    variables = {v for size in sizes for v in size.variables()}
    return len({v.name for v in variables}) < len(variables)


def _argument(ctx: Context, kind: Kind, names: Sequence[str], span: Span) -> Operand:
    shape = tuple([variable(ctx.builder.sizes.create(name, SizeOrigin.INPUT)) for name in names])
    type_ = ArrayType(Element(kind), shape)
    return Operand(ctx.builder.fresh(type_, span), type_)


def _try_on(ctx: Context, function: FunctionValue, arguments: Callable[[], Sequence[Value]], span: Span) -> Instance | None:
    """The instance of the function on these arguments, elaborated speculatively; None after an error."""
    builder = ctx.builder
    guards, premises = len(builder.constraints.guards), len(builder.constraints.premises)
    with ctx.speculate(NamingMode.FRESH):
        builder.open_block((), span)
        try:
            args = arguments()
            result = ctx.call(function, args[0] if len(args) == 2 else None, args[-1], span)
            if any(map(is_poisoned, [*args, result])) or any(d.is_error for d in builder.sink.diagnostics):
                return None
            block = builder.close_block(leaves(result))
            facts = guarded = [guard.fact for guard in builder.constraints.guards[guards:] if guard.index is None]
            if isinstance(function, SignedFunction):
                facts = [fact for fact in builder.constraints.premises[premises:] if fact not in guarded]
            static_facts = [fact for fact in facts if not (fact.left.is_runtime() or fact.right.is_runtime())]
            return _instance(ctx, [x for arg in args for x in leaves(arg)], result, block, static_facts)
        except (BudgetExceeded, RecursionError):
            return None


def _instance(ctx: Context, args: Sequence[Operand], result: Value, block: Block, facts: Sequence[SizeFact]) -> Instance:
    builder = ctx.builder
    constraints = builder.constraints
    demands = demands_of_block(
        block, block.results, builder.types, builder.spans, constraints.premises, constraints.declared_usages
    )
    equal: dict[SizeVariable, Size] = {}
    left: list[SizeFact] = []
    for fact in facts:
        equation = _solved_for(SizeFact(fact.relation, fact.left.substitute(equal), fact.right.substitute(equal)))
        if equation is None:
            left.append(fact)
            continue
        one, other = equation
        equal = {v: size.substitute({one: other}) for v, size in equal.items()}
        equal[one] = other
    remaining = [SizeFact(f.relation, f.left.substitute(equal), f.right.substitute(equal)) for f in left]

    def with_sizes(type_: ArrayType) -> ArrayType:
        return ArrayType(type_.element, tuple([size.substitute(equal) for size in type_.shape]), type_.permutation)

    read = [(_substituted(demands.grade(x.value), equal), with_sizes(x.type)) for x in args]
    results = [with_sizes(x.type) for x in leaves(result)]
    expected = tuple(dict.fromkeys(f for f in remaining if f.left != f.right))
    return Instance(tuple(read), tuple(results), expected, program_of(builder, args, block), equal)


def _solved_for(fact: SizeFact) -> tuple[SizeVariable, Size] | None:
    """A fact that equates a variable with a size, solved for that variable (the later one of two); None for other facts."""
    if fact.relation is not Relation.EQUAL:
        return None
    sides = [(_lone_variable(fact.left), fact.right), (_lone_variable(fact.right), fact.left)]
    solutions = [(v, size) for v, size in sides if v is not None and v not in size.variables()]
    return max(solutions, key=lambda pair: pair[0].id, default=None)


def _lone_variable(size: Size) -> SizeVariable | None:
    variables = size.variables()
    if len(variables) != 1:
        return None
    (only,) = variables
    return only if size == variable(only) else None


def _substituted(grade: Grade, equal: dict[SizeVariable, Size]) -> Grade:
    if grade == NONE:
        return grade
    return Grade(grade.low.substitute(equal), None if grade.high is None else grade.high.substitute(equal))
