"""Programs: top-level statements, inputs, params, outputs, modules; the finished core."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ...lang import parser, tree
from ...lang.diagnostics import Diagnostic, Label, Severity
from ...lang.limits import ensure_recursion_headroom
from ...lang.source import Source, Span
from ..builder import Builder
from ..core import Core, CoreGuard, CoreInput, CoreOutput, CoreParam
from ..elements import Kind
from ..obligations import Obligation, SizeFact
from ..operands import Operand, Value
from ..rules.common import static_integer
from ..sizes import Size, SizeOrigin, variable
from ..types import ArrayType
from . import expressions, matching, recursion, resolve, signatures, type_expressions
from .applications import apply
from .context import BudgetExceeded, Context, Load, is_poisoned, leaves
from .functions import BrokenFunction
from .scopes import Entry, FileContext, Module, Scope
from .type_expressions import DeclaredType, TupleType
from .values import numbers


@dataclass(slots=True)
class Elaboration:
    """A program being elaborated: what its declarations collected."""

    ctx: Context
    inputs: list[CoreInput] = field(default_factory=list)
    params: list[CoreParam] = field(default_factory=list)
    outputs: list[CoreOutput] = field(default_factory=list)
    schedules: list[tree.Schedule] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Elaborated:
    """The core (None if anything is wrong), what was reported, and the top-level names."""

    core: Core | None
    diagnostics: tuple[Diagnostic, ...]
    names: Mapping[str, Entry]
    last: Value | None


def elaborate(source: Source, load: Load, *, strict: bool = False, index_origin: int | None = None) -> Elaborated:
    """Parse, bind and elaborate a whole program."""
    ensure_recursion_headroom()
    ctx = Context(Builder(0), load, strict, apply, expressions.expression)
    run = Elaboration(ctx)
    ctx.sources.append(source)
    program, problems = parser.parse_program(source, modules=lambda path: module_names(ctx, path, source.name))
    for problem in problems:
        ctx.builder.report(problem)
    origin = program.index_origin if index_origin is None else index_origin
    scope = Scope(FileContext(source, origin))
    last: Value | None = None
    try:
        last = _run(run, program, scope, main=True)
    except BudgetExceeded as budget:
        for diagnostic in budget.diagnostics:
            ctx.builder.report(diagnostic)
    block = ctx.builder.close_block(())
    diagnostics = tuple([_strictly(d) if strict else d for d in ctx.builder.diagnostics])
    names: dict[str, Entry] = {}
    for name in scope.names():
        entry = scope.latest(name)
        if entry is not None:
            names[name] = entry
    core = None
    if not any(d.is_error for d in diagnostics):
        builder = ctx.builder
        core = Core(
            block,
            tuple(run.inputs),
            tuple(run.params),
            tuple(run.outputs),
            tuple(builder.guards),
            builder.types,
            builder.spans,
            builder.names,
            tuple(run.schedules),
            tuple(ctx.sources),
        )
    return Elaborated(core, diagnostics, names, last)


_STRICT = {"W201": "E201", "W310": "E310"}


def _strictly(diagnostic: Diagnostic) -> Diagnostic:
    """Under --strict what would be checked at load or when run is an error."""
    code = _STRICT.get(diagnostic.code)
    return diagnostic if code is None else replace(diagnostic, code=code, severity=Severity.ERROR)


def _run(run: Elaboration, program: tree.Program, scope: Scope, *, main: bool) -> Value | None:
    """Elaborate the statements in order; after an error go on with the next one."""
    ctx = run.ctx
    before = ctx.builder.index_origin
    ctx.builder.index_origin = scope.file.index_origin
    declared: dict[str, tree.Signature | tree.Annotation] = {}
    last: Value | None = None
    for statement in program.statements:
        try:
            value = _statement(run, statement, scope, declared, main=main)
        except RecursionError:
            ctx.builder.rollback(_bare(ctx))
            raise BudgetExceeded([Diagnostic("E610", "this statement nests functions too deeply", statement.span)]) from None
        last = value if value is not None else last
    for name, leftover in declared.items():
        ctx.error("E011", f"`{name}` has a type, but no binding follows it", leftover.span)
    ctx.builder.index_origin = before
    return last


def _bare(ctx: Context) -> tuple[int, ...]:
    """A mark that keeps everything but the blocks left open."""
    whole = ctx.builder.mark()
    return whole[:4]


def _statement(
    run: Elaboration,
    statement: tree.Statement,
    scope: Scope,
    declared: dict[str, tree.Signature | tree.Annotation],
    *,
    main: bool,
) -> Value | None:
    """One top-level statement; its value if it has one."""
    ctx = run.ctx
    match statement:
        case tree.Evaluate():
            value = ctx.expression(ctx, statement.value, scope)
            if main and not _is_silent(statement.value):
                expressions.print_value(ctx, value, statement.span)
            return value
        case tree.BindArray():
            return _bind_array(ctx, statement, scope, declared)
        case tree.BindFunction():
            _bind_function(ctx, statement, scope, declared)
        case tree.BindOperator():
            name = statement.target.name
            if recursion.refuse_recursion(ctx, name, statement.value, statement.target.span):
                scope.bind(name, BrokenFunction(statement.span))
            else:
                found = resolve.operator(ctx, statement.value, scope)
                scope.bind(name, BrokenFunction(statement.span) if found is None else found)
        case tree.BareFunction():
            ctx.error("E134", "the value of this statement is a function: give it arguments, or a name", statement.span)
        case tree.Signature() | tree.Annotation():
            declared[statement.target.name] = statement
        case tree.Input():
            _input(run, statement, scope, main=main)
        case tree.Param():
            _param(run, statement, scope)
        case tree.Output():
            return _output(run, statement, scope, main=main)
        case tree.Use():
            _use(run, statement, scope)
        case tree.Schedule():
            run.schedules.append(statement)
        case tree.Guard():
            ctx.error("E017", "a guard belongs inside `{}`", statement.span)
    return None


def _is_silent(node: tree.Expression) -> bool:
    """Assignments are silent and `⎕←e` has printed already."""
    return isinstance(node, (tree.Print, tree.Replace, tree.Modify))


# ---------------------------------------------------------------------------------- bindings


def _bind_array(
    ctx: Context, statement: tree.BindArray, scope: Scope, declared: dict[str, tree.Signature | tree.Annotation]
) -> Value:
    annotation = statement.annotation
    target = statement.target
    where: tuple[tree.Fact, ...] = ()
    if isinstance(target, tree.NameTarget) and target.name in declared:
        given = declared.pop(target.name)
        if isinstance(given, tree.Signature):
            ctx.error("E011", f"`{target.name}` has a signature, but is bound to an array", given.span)
        else:
            annotation, where = given.type, given.where
    wanted = None if annotation is None else type_expressions.declared(ctx, annotation, lambda n, s: _size_name(ctx, n, s, scope))
    if annotation is not None and wanted is None:
        value: Value = ctx.builder.poison(statement.span)
    elif isinstance(statement.value, tree.ArrayNotation) and not statement.value.items and isinstance(wanted, ArrayType):
        value = _empty(ctx, wanted, statement.value.span)
    else:
        value = ctx.expression(ctx, statement.value, scope)
        if wanted is not None:
            what = f"`{target.name}`" if isinstance(target, tree.NameTarget) else "this binding"
            value = matching.conform(ctx, value, wanted, statement.value.span, what)
    for fact, span in type_expressions.facts(ctx, where, lambda n, s: _size_name(ctx, n, s, scope)):
        ctx.builder.require(Obligation(fact, "E201", span, f"{fact} does not hold"))
    expressions.bind_target(ctx, target, value, scope)
    return value


def _empty(ctx: Context, wanted: ArrayType, span: Span) -> Operand:
    """`y : f64[0 3] ← []`."""
    sizes = [s.constant for s in wanted.shape]
    if not wanted.shape or any(s is None for s in sizes) or 0 not in sizes:
        return ctx.error("E120", "`[]` is empty, so its declared shape must have a 0", span)
    return ctx.builder.literal((), wanted, span)


def _bind_function(
    ctx: Context, statement: tree.BindFunction, scope: Scope, declared: dict[str, tree.Signature | tree.Annotation]
) -> None:
    name = statement.target.name
    signature = declared.pop(name, None)
    if recursion.refuse_recursion(ctx, name, statement.value, statement.target.span):
        scope.bind(name, BrokenFunction(statement.span))
        return
    function = resolve.function(ctx, statement.value, scope, name)
    if isinstance(signature, tree.Annotation):
        ctx.error("E011", f"`{name}` is bound to a function; its type needs an arrow", signature.span)
    elif signature is not None:
        function = signatures.define(ctx, signature, function, scope.now())
    scope.bind(name, function)


def _size_name(ctx: Context, name: str, span: Span, scope: Scope) -> Size | None:
    """A size the program knows: of an input, a param, or an integer whose size is known."""
    which = scope.file.sizes.get(name) or scope.file.params.get(name)
    if which is not None:
        return variable(which)
    entry = scope.lookup(name)
    if isinstance(entry, Operand) and isinstance(entry.static, Size):
        return entry.static
    ctx.error("E001", f"there is no size `{name}`", span, notes=("sizes are introduced by the types of inputs and by `param`",))
    return None


# ------------------------------------------------------------------------------ declarations


def _input(run: Elaboration, statement: tree.Input, scope: Scope, *, main: bool) -> None:
    ctx = run.ctx
    name = statement.target.name
    if not main:
        ctx.error("E017", "a module has no inputs: pass data to its functions", statement.span)
        scope.bind(name, ctx.builder.poison(statement.span))
        return

    if any(entry.name == name for entry in run.inputs):
        first = next(entry for entry in run.inputs if entry.name == name)
        labels = (Label(first.span, "the first one"),)
        scope.bind(name, ctx.error("E010", f"`{name}` is an input already", statement.target.span, labels=labels))
        return

    def introduce(size: str, span: Span) -> Size | None:
        if size in scope.file.params:
            return variable(scope.file.params[size])
        if size not in scope.file.sizes:
            made = ctx.builder.size_variable(size, SizeOrigin.INPUT)
            scope.file.sizes[size] = made
            ctx.builder.size_spans[made] = (span, f"a size of `{name}`")
        return variable(scope.file.sizes[size])

    type_ = type_expressions.declared(ctx, statement.type, introduce)
    if type_ is None:
        scope.bind(name, ctx.builder.poison(statement.span))
        return
    if isinstance(type_, TupleType):
        scope.bind(name, ctx.error("E305", "an input is one array, not a tuple", statement.type.span))
        return
    value = ctx.builder.fresh(type_, statement.target.span)
    operand = Operand(value, type_)
    run.inputs.append(CoreInput(name, value, statement.path, statement.span))
    ctx.builder.name(operand, name)
    scope.bind(name, operand)
    _assume(ctx, statement.where, introduce)


def _assume(ctx: Context, where: tuple[tree.Fact, ...], names: type_expressions.Names) -> None:
    """Facts the program states: checked at load, and known from here on."""
    for fact, span in type_expressions.facts(ctx, where, names):
        _guard(ctx, fact, span)
        ctx.builder.premises.append(fact)


def _guard(ctx: Context, fact: SizeFact, span: Span) -> None:
    ctx.builder.guards.append(CoreGuard(fact, Obligation(fact, "E201", span, f"this program states {fact}")))


def _param(run: Elaboration, statement: tree.Param, scope: Scope) -> None:
    ctx = run.ctx
    name = statement.target.name
    value = expressions.single(ctx, ctx.expression(ctx, statement.default, scope), statement.default.span)
    if value.poisoned:
        scope.bind(name, value)
        return
    default = static_integer(ctx.builder, value) if value.type.rank == 0 and value.type.element.kind is Kind.I64 else None
    if default is None or default < 0:
        scope.bind(name, ctx.error("E302", "a param is a natural number written in the program", statement.default.span))
        return
    made = ctx.builder.size_variable(name, SizeOrigin.PARAM)
    ctx.builder.size_spans[made] = (statement.target.span, "a param")
    scope.file.params[name] = made
    run.params.append(CoreParam(name, made, default, statement.span))
    operand = ctx.builder.size_value(variable(made), statement.target.span)
    ctx.builder.name(operand, name)
    scope.bind(name, operand)
    _assume(ctx, statement.where, lambda n, s: _size_name(ctx, n, s, scope))


def _output(run: Elaboration, statement: tree.Output, scope: Scope, *, main: bool) -> Value:
    ctx = run.ctx
    value = ctx.expression(ctx, statement.value, scope)
    name = statement.target.name
    if is_poisoned(value):
        scope.bind(name, value)
        return value
    if not (isinstance(statement.value, tree.Name) and statement.value.name == name):
        expressions.bind_target(ctx, statement.target, value, scope)
    if not main:
        return value
    if any(output.name == name for output in run.outputs):
        ctx.error("E010", f"`{name}` is an output already", statement.span)
        return value
    shown = leaves(numbers(ctx, value, statement.span))
    if len(shown) > 1:
        ctx.error(
            "E305",
            "an output is one array, but this is a tuple",
            statement.value.span,
            notes=("write one `output` for each item",),
        )
        return value
    run.outputs.append(CoreOutput(name, shown[0].value, statement.span))
    return value


# ----------------------------------------------------------------------------------- modules


def _use(run: Elaboration, statement: tree.Use, scope: Scope) -> None:
    ctx = run.ctx
    name = statement.target.name
    path = statement.path if statement.path is not None else name
    source = ctx.load(path, scope.file.source.name)
    if source is None:
        ctx.error("E019", f"there is no module `{path}`", statement.span)
        scope.bind(name, BrokenFunction(statement.span))
        return
    module = ctx.modules.get(source.name)
    if module is None:
        if source.name in ctx.loading:
            cycle = " → ".join([*ctx.loading[ctx.loading.index(source.name) :], source.name])
            ctx.error("E600", f"these files use each other: {cycle}", statement.span)
            scope.bind(name, BrokenFunction(statement.span))
            return
        module = _load(run, name, source)
    scope.bind(name, module)


def _load(run: Elaboration, name: str, source: Source) -> Module:
    ctx = run.ctx
    ctx.loading.append(source.name)
    ctx.sources.append(source)
    program, problems = parser.parse_program(source, modules=lambda path: module_names(ctx, path, source.name))
    for problem in problems:
        ctx.builder.report(problem)
    scope = Scope(FileContext(source, program.index_origin))
    _run(run, program, scope, main=False)
    ctx.loading.pop()
    module = Module(name, scope)
    ctx.modules[source.name] = module
    return module


def module_names(ctx: Context, path: str, importer: str) -> Mapping[str, tree.NameClass] | None:
    """What a module exports, for the binder; None if there is no such module."""
    source = ctx.load(path, importer)
    if source is None:
        return None
    known = ctx.exports.get(source.name)
    if known is None:
        ctx.exports[source.name] = {}
        parsed = parser.parse(source, modules=lambda inner: module_names(ctx, inner, source.name))
        known = {name: name_class for name, name_class in parsed.names.items() if name_class is not None}
        ctx.exports[source.name] = known
    return known


def type_of(value: Value) -> DeclaredType:
    """The type of a value, tuples included."""
    if isinstance(value, Operand):
        return value.type
    items: list[DeclaredType] = []
    for item in value.items:
        items.append(type_of(item))
    return TupleType(tuple(items))
