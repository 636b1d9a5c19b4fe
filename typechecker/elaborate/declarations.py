"""Elaborates declarations: inputs, params, outputs, the facts stated about their sizes, and the quantities of signatures."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TypeAlias

from ...lang.diagnostics.model import Code, Diagnostic, Label
from ...lang.support.records import dataclass, field, replace
from ...lang.syntax.source import Span
from ...lang.tree import expressions as tree, program
from ...lang.tree.program import MISSING_POINT, CellFormat
from ..core.operations import Block, Core, CoreCall, CoreGuard, CoreInput, CoreOutput, CoreParam
from ..diagnostics import show_type
from ..elements import ArrayType, Element, Kind, limits, show_element
from ..proof.obligations import Obligation, SizeFact
from ..proof.report_unproved import clause_site
from ..rules.argument_checks import size_expression, static_integer
from ..signatures.unify import solve_existentials
from ..sizes.polynomials import ZERO, Size, SizeOrigin, SizeVariable, variable
from ..sizes.size import lower_bound, maximum
from ..usage.backward_analysis import ANY, Grade, demands_of, demands_of_block
from ..usage.check_moves import UsageContract, violation
from ..values.facts import Operand, TupleOperand, Value, is_poisoned, leaves
from . import expressions, type_expressions
from .context import Bindings, Context, Entry, Frame, to_numbers

# ---------------------------------------------------------------------------------------------------- declarations

@dataclass(slots=True)
class Elaboration:
    """The elaboration of a program: its context, and the inputs, their quantities, params, outputs and schedules so far."""

    ctx: Context
    inputs: list[CoreInput] = field(default_factory=list)
    params: list[CoreParam] = field(default_factory=list)
    outputs: list[CoreOutput] = field(default_factory=list)
    quantities: list[tuple[Operand, tree.Quantity, tree.NameTarget]] = field(default_factory=list)
    schedules: list[program.ScheduleBlock] = field(default_factory=list)
    scheduled: frozenset[str] = frozenset()


_Named: TypeAlias = tree.SizeName | tree.BoundedSize | tree.ShapeVariable


def names_in(frame: Frame) -> Bindings:
    """What the variables in types of a file stand for; its sizes and params may get more."""
    return Bindings({}, otherwise=partial(_named, frame))


def _named(frame: Frame, ctx: Context, node: _Named) -> Size | None:
    """The size that a name in a type stands for: of an input, a param, or an integer value known as a size; E403 or E001, and
    E121 or E011 for what only signatures have, otherwise."""
    if isinstance(node, tree.ShapeVariable):
        ctx.error(Code.E121, f"the rank of `..{node.name}` is not known here: shape variables belong in signatures", node.span)
        return None
    if isinstance(node, tree.BoundedSize):
        ctx.error(Code.E011, "a size known only when run has no place in this declaration", node.span)
        return None
    known = _known(node, frame)
    if known is not None:
        return known
    name, entry = node.name, _value(node, frame)
    if name.startswith(tree.ITEMS):
        ctx.error(Code.E121, f"`{name}` is known in signatures only, which have shape variables", node.span)
        return None
    if isinstance(entry, Operand) and not entry.poisoned:
        message = f"`{name}` is {show_type(entry.type)}, and only a natural number known before the program runs is a size"
        ctx.error(Code.E403, message, node.span, labels=(Label(ctx.builder.spans[entry.value], f"`{name}`"),))
        return None
    notes = ("sizes are introduced by the types of inputs and by `param`",)
    ctx.error(Code.E001, f"there is no size `{name}`", node.span, notes=notes)
    return None


def _known(node: tree.SizeName | tree.BoundedSize, frame: Frame) -> Size | None:
    which = frame.file.sizes.get(node.name) or frame.file.params.get(node.name)
    if which is not None:
        return variable(which)
    entry = _value(node, frame)
    return entry.static if isinstance(entry, Operand) and isinstance(entry.static, Size) else None


def _value(node: tree.SizeName | tree.BoundedSize, frame: Frame) -> Entry | None:
    """The value that a name in a type refers to, if any."""
    return frame.find(node.definition) if isinstance(node, tree.SizeName) and node.definition is not None else None


def input(run: Elaboration, statement: program.InputDeclaration, frame: Frame, *, main: bool) -> None:
    ctx = run.ctx
    name, target = statement.target.name, statement.target.definition
    if not main:
        ctx.error(Code.E017, "a module has no inputs: pass data to its functions", statement.span)
        frame.bind(target, ctx.builder.poison(statement.span))
        return

    if any(entry.name == name for entry in run.inputs):
        first = next(entry for entry in run.inputs if entry.name == name)
        labels = (Label(first.span, "the first one"),)
        frame.bind(target, ctx.error(Code.E010, f"`{name}` is an input already", statement.target.span, labels=labels))
        return

    def introduce(ctx: Context, size: _Named) -> Size | None:
        is_new = isinstance(size, tree.SizeName) and not size.name.startswith(tree.ITEMS)
        if is_new and size.name not in frame.file.params and size.name not in frame.file.sizes:
            frame.file.sizes[size.name] = size_variable = ctx.builder.sizes.create(size.name, SizeOrigin.INPUT)
            ctx.builder.sizes.spans[size_variable] = (size.span, f"a size of `{name}`")
        return _named(frame, ctx, size)

    type_ = type_expressions.instantiate(ctx, statement.type, Bindings(frame.file.params, otherwise=introduce))
    if type_ is None:
        frame.bind(target, ctx.builder.poison(statement.span))
        return
    if isinstance(type_, type_expressions.TupleType):
        frame.bind(target, ctx.error(Code.E305, "an input is one array, not a tuple", statement.type.span))
        return
    if not _check_column_format(ctx, statement, type_):
        frame.bind(target, ctx.builder.poison(statement.span))
        return
    value = ctx.builder.fresh(type_, statement.target.span)
    operand = Operand(value, type_)
    reading = statement.reading
    if type_.element.unit is not None:
        reading = replace(reading, form=type_.element.unit.cell_format)
    run.inputs.append(CoreInput(name, value, statement.path, statement.span, reading=reading))
    ctx.builder.name(operand, name)
    frame.bind(target, operand)
    known = frozenset([*frame.file.sizes.values(), *frame.file.params.values()])
    width = _width(statement.type, type_)
    ctx.builder.constraints.input_sites.append(clause_site(f"`input {name}`", statement.span, statement.where, known, width))
    _assume(ctx, statement.where, frame)
    if statement.quantity is not None:
        run.quantities.append((operand, statement.quantity, statement.target))


def check_sizes(run: Elaboration, frame: Frame) -> None:
    """E122 for a size that bounds elements of an input but is no length of one: nothing determines its value."""
    builder = run.ctx.builder
    if any(diagnostic.is_error for diagnostic in builder.sink.diagnostics):
        return
    axes = {axis for entry in run.inputs for size in builder.types[entry.value].shape for axis in size.variables()}
    for name, size in frame.file.sizes.items():
        if size.origin is SizeOrigin.INPUT and size in builder.sizes.spans and size not in axes:
            span, _ = builder.sizes.spans[size]
            notes = (f"write `param {name} ← 10` before it, or take {name} from an axis of an input: `input x : f64[{name}]`",)
            run.ctx.error(Code.E122, f"{name} is not determined by the shape of any input", span, notes=notes)


def _width(node: tree.TypeExpression, type: ArrayType) -> tuple[SizeVariable, Span] | None:
    """The width variable of an input of texts, which loading may pad, with its span."""
    if type.element.kind is not Kind.CHAR or not isinstance(node, tree.ArrayTypeExpression) or len(node.shape) != 2:
        return None
    written, width = node.shape[1], type.shape[1].variables()
    return (next(iter(width)), written.span) if isinstance(written, tree.SizeName) and len(width) == 1 else None


def _check_column_format(ctx: Context, statement: program.InputDeclaration, type: ArrayType) -> bool:
    """E300 if the clauses of an input do not fit its type."""
    reading, element = statement.reading, type.element
    stated = show_element(Element(element.kind, unit=element.unit))
    expected = _READ_AS.get(reading.form, stated)
    problem, label = "", f"declare it `{expected}`"
    notes: tuple[str, ...] = ()
    if stated != expected:
        problem = f"`as` reads {expected} here, and `{statement.target.name}` is declared {show_type(type)}"
    elif element.unit is None and any(ctx.builder.text(clause).endswith("⎕nat") for clause in statement.clauses):
        problem = f"`⎕nat` is a missing date or time, and `{statement.target.name}` is declared {show_type(type)}"
        notes = (_missing_that_fits(0, element.kind),)
    elif element.unit is not None and reading.missing not in (None, MISSING_POINT):
        problem, label = f"what stands for missing cells is not of type {stated}", f"declared {stated}"
        notes = (f"{stated} takes `missing ⎕nat`",)
    elif reading.missing is not None and not _fits_kind(reading.missing, element.kind):
        problem, label = f"what stands for missing cells is not of type {element.kind.value}", f"declared {element.kind.value}"
        notes = (_missing_that_fits(reading.missing, element.kind),)
    if problem:
        span = statement.clauses[0].to(statement.clauses[-1])
        ctx.error(Code.E300, problem, span, labels=(Label(statement.type.span, label),), notes=notes)
    return not problem


def _missing_that_fits(missing: int | float | str, kind: Kind) -> str:
    """The note with a `missing` clause that fits an input of this kind."""
    if kind is Kind.CHAR:
        return 'text takes a text: `missing ""`'
    bounds = limits(kind)
    if bounds is None:
        return "numbers take a number: `missing 0`, or `missing ⎕nan` in `f64`"
    limit = f" from {bounds[0]} to {bounds[1]}".replace("-", "¯") * (kind is not Kind.I64)
    return f"{kind.value} takes a whole number{limit}: `missing 0`" + ", or declare it `f64`" * isinstance(missing, float)


_READ_AS = {CellFormat.DATE: "date", CellFormat.TIME: "time", CellFormat.PRESENT: "bool"}


def _fits_kind(missing: int | float | str, kind: Kind) -> bool:
    bounds = limits(kind)
    if bounds is not None:
        return isinstance(missing, int) and bounds[0] <= missing <= bounds[1]
    return isinstance(missing, str) is (kind is Kind.CHAR)


def _assume(ctx: Context, where: tuple[tree.Fact, ...], frame: Frame) -> None:
    """Make the facts of a `where` guards, which loading checks, and premises of all later statements."""
    facts, definitions = solve_existentials(where, lambda size: _known(size, frame) is not None)
    bindings = replace(names_in(frame), definitions=definitions)
    for fact, span in type_expressions.facts(ctx, facts, bindings):
        _guard(ctx, fact, span)
        ctx.builder.constraints.premises.append(fact)


def _guard(ctx: Context, fact: SizeFact, span: Span) -> None:
    ctx.builder.constraints.guards.append(CoreGuard(fact, Obligation(fact, Code.E201, span, f"this program states {fact}")))


def separate_value(run: Elaboration, target: tree.Target, value: Value) -> Value:
    """The value to bind to a name: a copy for `z←y` if a schedule block uses the name, so that it denotes a phase of its own."""
    builder = run.ctx.builder
    match target, value:
        case tree.NameTarget(), Operand() if target.name in run.scheduled and not value.poisoned:
            known = builder.source_names.names.get(value.value, target.name)
            return builder.copy_value(value, target.span) if known != target.name else value
        case tree.TupleTarget(), TupleOperand() if len(target.items) == len(value.items):
            return replace(
                value, items=tuple([separate_value(run, *pair) for pair in zip(target.items, value.items, strict=True)])
            )
        case _:
            return value


def param(run: Elaboration, statement: program.Param, frame: Frame) -> None:
    ctx = run.ctx
    name = statement.target.name
    value = expressions.single(ctx, ctx.expression(ctx, statement.default, frame), statement.default.span)
    if value.poisoned:
        frame.bind(statement.target.definition, value)
        return
    default = static_integer(ctx.builder, value) if value.type.rank == 0 and value.type.element.kind is Kind.I64 else None
    if default is None or default < 0:
        frame.bind(statement.target.definition, _setting(run, statement, value))
        return
    size = ctx.builder.sizes.create(name, SizeOrigin.PARAM)
    ctx.builder.sizes.spans[size] = (statement.target.span, "a param")
    frame.file.params[name] = size
    run.params.append(CoreParam(name, size, default, statement.span))
    operand = ctx.builder.size_value(variable(size), statement.target.span)
    operand = replace(operand, type=replace(operand.type, element=replace(operand.type.element, weak=value.type.element.weak)))
    ctx.builder.name(operand, name)
    frame.bind(statement.target.definition, operand)
    known = frozenset([*frame.file.sizes.values(), *frame.file.params.values()])
    ctx.builder.constraints.input_sites.append(clause_site(f"`param {name}`", statement.span, statement.where, known))
    _assume(ctx, statement.where, frame)


def _setting(run: Elaboration, statement: program.Param, value: Operand) -> Operand:
    """The input for a param that is not a size, with its default; a text may be set to one of another length."""
    builder, span = run.ctx.builder, statement.target.span
    default, type = value.constant, value.type
    if default is None:
        notes = ("its default may not depend on inputs",)
        return run.ctx.error(Code.E302, "the default of a param is written in the program", statement.default.span, notes=notes)
    if statement.where:
        return _setting_with_facts(run.ctx, statement, value)
    element = Element(type.element.kind, weak=type.element.weak, unit=type.element.unit)
    shape = type.shape
    if element.kind is Kind.CHAR and type.rank == 1:
        length = builder.sizes.create(f"{statement.target.name}_w", SizeOrigin.INPUT)
        builder.sizes.spans[length] = (span, f"the length of `{statement.target.name}`")
        shape = (variable(length),)
    operand = Operand(builder.fresh(ArrayType(element, shape), span), ArrayType(element, shape))
    name, pattern = statement.target.name, statement.default.span
    run.inputs.append(CoreInput(name, operand.value, None, statement.span, default, pattern=pattern))
    if element.kind is Kind.CHAR and type.rank <= 1:
        builder.texts[operand.value] = default
    builder.name(operand, statement.target.name)
    return operand


def _setting_with_facts(ctx: Context, statement: program.Param, value: Operand) -> Operand:
    """E403 for a `where` after a param that is no natural number, since facts are about sizes."""
    name, kind = statement.target.name, value.type.element.kind
    message = f"`where` states facts about sizes, which are natural numbers, and `{name}` is {show_type(value.type)}"
    negative = ", with a negative default" * (value.type.rank == 0 and kind is Kind.I64)
    notes = ("leave `where` out: nothing checks such a value before the program runs",)
    if value.type.rank == 0 and (kind.is_float or kind.is_integer):
        notes = (f"{notes[0]}; bound it where it is used: `0⌈{name}` is never below 0",)
    return ctx.error(Code.E403, f"{message}{negative}", statement.where[0].span, notes=notes)


def output(run: Elaboration, statement: program.OutputDeclaration, frame: Frame, *, main: bool) -> Value:
    ctx = run.ctx
    value = ctx.expression(ctx, statement.value, frame)
    name = statement.target.name
    if is_poisoned(value):
        frame.bind(statement.target.definition, value)
        return value
    if not (isinstance(statement.value, tree.Name) and statement.value.name == name):
        value = separate_value(run, statement.target, value)
        expressions.bind_target(ctx, statement.target, value, frame)
    if not main:
        return value
    if any(output.name == name for output in run.outputs):
        ctx.error(Code.E010, f"`{name}` is an output already", statement.span)
        return value
    printed = leaves(to_numbers(ctx, value, statement.span))
    if len(printed) > 1:
        ctx.error(
            Code.E305,
            "an output is one array, but this is a tuple",
            statement.value.span,
            notes=("write one `output` for each item",),
        )
        return value
    reading, unit = statement.reading, printed[0].type.element.unit
    form = CellFormat.ITEM if unit is None else unit.cell_format
    if reading.form not in (CellFormat.ITEM, form):
        expected = _READ_AS[reading.form]
        message = f"`as` writes {expected} here, and this is {show_type(printed[0].type)}"
        ctx.error(Code.E300, message, statement.value.span, notes=(f"`⎕{expected} x` converts numbers of days or nanoseconds",))
        return value
    run.outputs.append(CoreOutput(name, printed[0].value, statement.span, replace(reading, form=form)))
    return value


# ---------------------------------------------------------------------------------------------------- quantities
#
# The quantities of a signature, checked where the function is defined, and those of inputs, by `usage.check_moves`.

def states_quantities(signature: program.Signature) -> bool:
    """Does the signature state a quantity other than ω?"""
    quantities = [p.quantity for p in (signature.left, signature.right) if p is not None and p.quantity is not None]
    return any(quantity.low is not None for quantity in quantities)


def usage_violations(
    ctx: Context, signature: program.Signature, args: Sequence[Value], block: Block, bindings: Bindings,
    known: frozenset[str], calls: Sequence[CoreCall],
) -> list[Diagnostic]:  # fmt: skip
    """The diagnostics of a body, elaborated on `args` as `block`, whose usage violates its signature; `calls` are the calls in
    it."""
    builder = ctx.builder
    parameters = [p for p in (signature.left, signature.right) if p is not None]
    letters = ("⍺", "⍵")[2 - len(parameters) :]
    demands = demands_of_block(block, block.results, builder.types, builder.spans, builder.constraints.premises, calls)
    violated: list[Diagnostic] = []
    for parameter, letter, arg in zip(parameters, letters, args, strict=True):
        if parameter.quantity is None:
            continue
        declared = declared_grade(ctx, parameter.quantity, bindings)
        if declared is None:
            continue
        for x in leaves(arg):
            contract = UsageContract(letter, x.value, declared, parameter.quantity.span, builder.spans[x.value], known)
            diagnostic = violation(contract, demands, builder.constraints.premises, ctx.mentions)
            if diagnostic is not None:
                violated.append(diagnostic)
                break
    return violated


def input_contracts(run: Elaboration, frame: Frame) -> list[UsageContract]:
    """The quantities that inputs state."""
    sizes = frozenset([*frame.file.sizes, *frame.file.params])
    contracts: list[UsageContract] = []
    for x, quantity, target in run.quantities:
        grade = declared_grade(run.ctx, quantity, names_in(frame))
        if grade is not None:
            contracts.append(UsageContract(target.name, x.value, grade, quantity.span, target.span, sizes))
    return contracts


def input_violations(ctx: Context, core: Core, contracts: Sequence[UsageContract]) -> list[Diagnostic]:
    """The diagnostics of a program whose usage of inputs violates their quantities."""
    demands, premises = demands_of(core), core.facts()
    diagnostics = [violation(contract, demands, premises, ctx.mentions) for contract in contracts]
    return [diagnostic for diagnostic in diagnostics if diagnostic is not None]


def declared_grade(ctx: Context, quantity: tree.Quantity, bindings: Bindings) -> Grade | None:
    """The interval that a declaration states; of numbers of reads, which are sizes only as a whole (`(w-9)÷64` may be ¯1)."""
    if quantity.low is None:
        return ANY
    names = type_expressions.names_of(ctx, bindings)
    low = size_expression(ctx.builder, quantity.low, names, signed=True)
    high = None if quantity.high is None else size_expression(ctx.builder, quantity.high, names, signed=True)
    if low is None or (high is None and quantity.high is not None):
        return None
    surely = not low.is_runtime() and ctx.builder.at_most(ZERO, low)
    return Grade(low if surely else maximum(ZERO, lower_bound(low)), high)
