"""Elaborates programs: top-level statements and modules to the finished core."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ...lang.bind.directives import check_directives
from ...lang.diagnostics.model import Code, Diagnostic, Label, Severity
from ...lang.support.records import dataclass, replace
from ...lang.syntax import parser
from ...lang.syntax.source import LIBRARY_PREFIX, Source, Span, ensure_recursion_headroom
from ...lang.tree import expressions as tree, program as program_tree
from ...lang.tree.expressions import NameClass, Symbol, SymbolKind
from ..core.builder import SPECULATIVE_IDS, Builder
from ..core.operations import Block, Core, CoreGuard, CorePrint, ValueId
from ..proof.report_unproved import CHECKED_AT_LOAD
from ..signatures import unify
from ..signatures.check_definition import elaborated_body
from ..values.facts import Operand, TupleOperand, Value
from . import applications, declarations, expressions
from .applications import apply, offer_guard
from .context import (
    BrokenFunction,
    BudgetExceeded,
    CheckCache,
    Context,
    DefinitionKey,
    DependencyLevel,
    Entry,
    Exports,
    FileContext,
    Frame,
    Load,
    Module,
    dependency_of,
    detached,
)

# ---------------------------------------------------------------------------------------------------- programs

@dataclass(frozen=True, slots=True)
class Elaborated:
    """The core (None after an error), the diagnostics, the values of the top-level names, the last value, the context in which
    the names may be applied, and the definition keys of the names."""

    core: Core | None
    diagnostics: tuple[Diagnostic, ...]
    names: Mapping[str, Entry]
    last: Value | None
    context: Context
    definition_keys: Mapping[str, DefinitionKey]


def elaborate(
    source: Source, load: Load, *, strict: bool = False, index_origin: int | None = None, check_cache: CheckCache | None = None,
    checkpoints: bool = False,
) -> Elaborated:  # fmt: skip
    """Parse, bind and elaborate a whole program; `check_cache` has the results of its earlier versions."""
    ensure_recursion_headroom()
    cache = CheckCache() if check_cache is None else check_cache
    ctx = Context(Builder(0), load, strict, apply, expressions.expression, offer_guard, elaborated_body, cache)
    ctx.incremental = check_cache is not None
    ctx.builder.checkpoints = checkpoints
    run = declarations.Elaboration(ctx)
    ctx.sources.append(source)
    ctx.builder.source_names.sources = ctx.sources
    parsed = _read(ctx, source)
    origin = parsed.program.index_origin if index_origin is None else index_origin
    frame = Frame(FileContext(source, origin, is_faulty=bool(parsed.diagnostics)))
    last: Value | None = None
    try:
        last = _elaborate_statements(run, parsed, frame, main=True)
    except BudgetExceeded as budget:
        for diagnostic in budget.diagnostics:
            ctx.builder.report(_with_repeated_calls(ctx, diagnostic))
    declarations.check_sizes(run, frame)
    contracts = declarations.input_contracts(run, frame)
    block = ctx.builder.close_block(())
    for problem in _check_schedules(run, frame, source, block):
        ctx.builder.report(problem)
    reported = ctx.builder.sink.diagnostics if check_cache is None else map(detached, ctx.builder.sink.diagnostics)
    diagnostics = tuple([_as_strict(d) if strict else d for d in reported])
    names = frame.by_name()
    core = None
    if not any(d.is_error for d in diagnostics):
        builder = ctx.builder
        core = Core(
            block,
            tuple([entry if entry.value in builder.patterns else replace(entry, pattern=None) for entry in run.inputs]),
            tuple(run.params),
            tuple(run.outputs),
            tuple(builder.constraints.guards),
            {value: type for value, type in builder.types.items() if value < SPECULATIVE_IDS},
            builder.spans,
            builder.source_names.names,
            tuple(run.schedules),
            tuple(ctx.sources),
            tuple(builder.constraints.declared_usages),
            _distinct(builder.constraints.solver_assumptions),
            tuple(builder.recomputed),
        )
        violated = _check_moves(core, names, ctx) if run.schedules else []
        violated += declarations.input_violations(ctx, core, contracts) if contracts else []
        if violated:
            core, diagnostics = None, (*diagnostics, *violated)
    return Elaborated(
        core,
        diagnostics,
        names,
        last,
        ctx,
        {symbol.name: definition for symbol, definition in frame.file.definition_keys.bound.items()},
    )


def _distinct(guards: Sequence[CoreGuard]) -> tuple[CoreGuard, ...]:
    """The guards without duplicates; the first of each stays."""
    return tuple({(g.fact.relation, g.fact.left.key, g.fact.right.key): g for g in reversed(guards)}.values())[::-1]


def _check_schedules(run: declarations.Elaboration, frame: Frame, source: Source, block: Block) -> list[Diagnostic]:
    """The errors of schedule blocks that need no devices (SCH101, SCH107, SCH201)."""
    if not run.schedules:
        return []
    spans = run.ctx.builder.spans
    arguments = [op.arg for op in block.ops if isinstance(op, CorePrint)]
    printed = {run.ctx.builder.source_names.names[arg] for arg in arguments if arg in run.ctx.builder.source_names.names}
    places: dict[str, list[Span]] = {}
    for definition, entry in frame.bound:
        if isinstance(entry, Operand) and entry.value in spans:
            places.setdefault(definition.name, []).append(spans[entry.value])
    names: dict[str, str | list[Span]] = {}
    for name, last in frame.by_name().items():
        match last:
            case Operand():
                names[name] = places.get(name, [])
            case TupleOperand():
                names[name] = "a tuple"
            case Module():
                names[name] = "a module"
            case _:
                names[name] = "a function"
    complete = not any(diagnostic.is_error for diagnostic in run.ctx.builder.sink.diagnostics)
    diagnostics: list[Diagnostic] = []
    for schedule in run.schedules:
        mine = schedule.span.file == source.name  # the names in a block of a module are those of the module
        diagnostics += check_directives(schedule.directives, names if mine else {}, printed, complete=mine and complete)
    return diagnostics


def _read(ctx: Context, source: Source) -> parser.Parsed:
    """The bound statements of a file, whose diagnostics are reported."""
    parsed = read(source, ctx.load, ctx.exports, ctx.check_cache if ctx.incremental else None)
    for problem in parsed.diagnostics:
        ctx.builder.report(problem)
    return parsed


def read(source: Source, load: Load, exports: Exports, check_cache: CheckCache | None) -> parser.Parsed:
    """The bound statements of a file, from the cache if it was the last text read."""


    def modules(path: str) -> Mapping[str, NameClass] | None:
        return module_names(load, exports, path, source.name)

    if check_cache is None:
        return parser.parse(source, modules=modules)
    if check_cache.read is None or check_cache.read[0] is not source:
        check_cache.read = source, parser.parse(source, modules=modules, statement_cache=check_cache.statements)
    return check_cache.read[1]


def _check_moves(core: Core, names: Mapping[str, Entry], ctx: Context) -> list[Diagnostic]:
    """E502 for values that a schedule moves and the program reads more than once."""
    from ..usage.check_moves import move_violations

    def named(name: str) -> ValueId | None:
        entry = names.get(name)
        return entry.value if isinstance(entry, Operand) else None

    return move_violations(core, named, ctx.mentions)


_STRICT = {Code.W201: Code.E201, Code.W310: Code.E310}


def _as_strict(diagnostic: Diagnostic) -> Diagnostic:
    """With `--strict`, the error that corresponds to a warning about a check left to loading or running."""
    code = _STRICT.get(diagnostic.code)
    if code is None:
        return diagnostic
    notes = tuple([note for note in diagnostic.notes if note != CHECKED_AT_LOAD])
    return replace(diagnostic, code=diagnostic.origin or code, severity=Severity.ERROR, notes=notes)


def _with_repeated_calls(ctx: Context, diagnostic: Diagnostic) -> Diagnostic:
    """E610 at the calls with the largest expansions, for the function whose repeated calls multiply them."""
    repeated = ctx.repeated_calls()
    if not repeated:
        return diagnostic
    (span, *others), chain = repeated[0][1], [f"`{name}` at {len(calls)} places" for name, calls in repeated[:3]]
    labels = [Label(other, f"{100 * ctx.expansions[other] // ctx.nodes} % of them") for other in others[:2]]
    label, more = f"{100 * ctx.expansions[span] // ctx.nodes} % of the operations", ", …" if len(repeated) > 3 else ""
    notes = (f"the program calls {', '.join(chain)}{more}: calls in calls multiply", *diagnostic.notes)
    return replace(diagnostic, span=span, label=label, labels=tuple(labels), notes=notes)


def _elaborate_statements(run: declarations.Elaboration, parsed: parser.Parsed, frame: Frame, *, main: bool) -> Value | None:
    """Elaborate the statements in order, continuing after errors; the last value."""
    ctx, program = run.ctx, parsed.program
    before, scheduled = ctx.builder.index_origin, run.scheduled
    ctx.builder.index_origin = frame.file.index_origin
    run.scheduled = _schedule_words(program)
    declared: dict[str, program_tree.StatedType] = {}
    last: Value | None = None
    for statement, uses in zip(program.statements, program.uses, strict=True):
        value = _elaborate_defining(run, statement, uses, frame, declared, main=main)
        last = value if value is not None else last
    for name, leftover in declared.items():
        after = [problem for problem in parsed.diagnostics if problem.span.start > leftover.span.end]
        if not after:  # the binding may be a statement that failed
            ctx.error(Code.E011, f"`{name}` has a type, but no binding follows it", leftover.span)
    ctx.builder.index_origin, run.scheduled = before, scheduled
    return last


def _schedule_words(program: program_tree.ProgramTree) -> frozenset[str]:
    """The words of a file's schedule blocks, which include names of values."""
    names: set[str] = set()
    pending = [d for block in program.statements if isinstance(block, program_tree.ScheduleBlock) for d in block.directives]
    while pending:
        for word in pending.pop().words:
            if isinstance(word, program_tree.DirectiveWord):
                names.update((word.text, *word.text.split(",")))
            else:
                pending.extend(word.directives)
    return frozenset(names)


def _elaborate_defining(
    run: declarations.Elaboration,
    statement: program_tree.Statement,
    uses: Collection[Symbol],
    frame: Frame,
    declared: dict[str, program_tree.StatedType],
    *,
    main: bool,
) -> Value | None:
    """Elaborate a top-level statement and give the names that it binds their definition keys; its value, if any."""
    ctx, keys = run.ctx, frame.file.definition_keys
    name, states_type = _target_name(statement), isinstance(statement, program_tree.StatedType)
    declaration = None if name is None or states_type else keys.declared.pop(name, None)
    started, definition = len(frame.bound), _definition_key(ctx, statement, uses, frame, declaration)
    keys.current = definition
    try:
        value = _statement(run, statement, frame, declared, main=main)
    except RecursionError:
        ctx.builder.rollback(_mark_without_blocks(ctx))
        raise BudgetExceeded([Diagnostic(Code.E610, "this statement nests functions too deeply", statement.span)]) from None
    keys.current = None
    if name is not None and states_type:
        keys.declared[name] = definition
    texts = [source.text for source in ctx.sources] if isinstance(statement, program_tree.ModuleUse) else []
    for symbol, entry in frame.bound[started:]:
        if isinstance(symbol, Symbol):
            keys.bound[symbol] = ctx.check_cache.with_texts(definition, texts, dependency_of(entry))
    return value


def _target_name(statement: program_tree.Statement) -> str | None:
    """The one name that a statement binds or states the type of, if it does."""
    if isinstance(statement, tree.BindFunction | tree.BindArray | tree.BindOperator | program_tree.StatedType):
        target = statement.target
        return target.name if isinstance(target, tree.NameTarget | program_tree.StatedName) else None
    return None


def _definition_key(
    ctx: Context, statement: program_tree.Statement, uses: Collection[Symbol], frame: Frame, declaration: DefinitionKey | None
) -> DefinitionKey:  # fmt: skip
    """The definition key of a statement before it is elaborated."""
    span = statement.span
    used = [(symbol.name, key) for symbol in uses if (key := frame.file.definition_keys.bound.get(symbol)) is not None]
    text = frame.file.source.text[span.start : span.end]
    definition = ctx.check_cache.definition(used, text, span, frame.file.index_origin, declaration)
    if any(symbol.kind is SymbolKind.SIZE for symbol in uses):  # as a number
        return replace(definition, dependency=DependencyLevel.SIZES)
    return definition


def _mark_without_blocks(ctx: Context) -> tuple[int, ...]:
    """A mark for a rollback that only closes open blocks."""
    mark = ctx.builder.mark()
    return mark[: len(mark) - (ctx.builder.depth - 1)]


def _statement(
    run: declarations.Elaboration,
    statement: program_tree.Statement,
    frame: Frame,
    declared: dict[str, program_tree.StatedType],
    *,
    main: bool,
) -> Value | None:
    """Elaborate one top-level statement; its value, if it has one."""
    ctx = run.ctx
    match statement:
        case tree.Evaluate():
            value = ctx.expression(ctx, statement.value, frame)
            if main and not _is_silent(statement.value) and not _has_printed(ctx):
                expressions.print_value(ctx, value, statement.span)
            return value
        case tree.BindArray():
            return applications.bind_array(run, statement, frame, declared)
        case tree.BindFunction():
            applications.bind_function(ctx, statement, frame, declared)
        case tree.BindOperator():
            applications.bind_operator(ctx, statement, frame, declared)
        case tree.BareFunction():
            ctx.error(Code.E134, "the value of this statement is a function: give it arguments, or a name", statement.span)
        case program_tree.Signature():
            _check_form(ctx, statement, frame)
            if (earlier := declared.get(statement.target.name)) is not None:
                ctx.error(Code.E011, f"`{statement.target.name}` has a type, but no binding follows it", earlier.span)
            declared[statement.target.name] = statement
        case program_tree.Annotation():
            declared[statement.target.name] = statement
        case program_tree.InputDeclaration():
            declarations.input(run, statement, frame, main=main)
        case program_tree.Param():
            declarations.param(run, statement, frame)
        case program_tree.OutputDeclaration():
            return declarations.output(run, statement, frame, main=main)
        case program_tree.ModuleUse():
            _use(run, statement, frame)
        case program_tree.ScheduleBlock():
            run.schedules.append(statement)
    return None


def _check_form(ctx: Context, signature: program_tree.Signature, frame: Frame) -> None:
    """Report a malformed signature, unless it is known to be well-formed from an earlier version."""
    definition_keys, params = frame.file.definition_keys, frozenset(frame.file.params)
    assert definition_keys.current is not None
    key = (definition_keys.current.key, params)
    if ctx.check_cache.well_formed.get(key) is None:
        signature, definitions = unify.solved(signature, params)
        if unify.well_formed(ctx, signature, params, definitions):
            ctx.check_cache.well_formed.put(key, True)


def _is_silent(node: tree.Expression) -> bool:
    """Is the value of an expression statement not printed: an assignment, or `⎕←e`, which has printed it?"""
    return isinstance(node, (tree.PrintExpression, tree.Replace, tree.Modify))


def _has_printed(ctx: Context) -> bool:
    """Has the statement printed its value as its last action (`⎕←` at the end of the function it called)?"""
    return ctx.printed_at == ctx.nodes and isinstance(ctx.builder.latest(), CorePrint)


# ----------------------------------------------------------------------------------- modules


def _use(run: declarations.Elaboration, statement: program_tree.ModuleUse, frame: Frame) -> None:
    ctx = run.ctx
    name = statement.target.name
    path = statement.path if statement.path is not None else name
    source = ctx.load(path, frame.file.source.name)
    if source is None:
        ctx.error(Code.E019, f"there is no module `{path}`", statement.span)
        frame.bind(statement.target.definition, BrokenFunction(statement.span))
        return
    module = ctx.modules.get(source.name)
    if module is None:
        if source.name in ctx.loading:
            cycle = " → ".join([*ctx.loading[ctx.loading.index(source.name) :], source.name])
            ctx.error(Code.E600, f"these files use each other: {cycle}", statement.span)
            frame.bind(statement.target.definition, BrokenFunction(statement.span))
            return
        module = _load(run, name, source)
    frame.bind(statement.target.definition, module)


def _load(run: declarations.Elaboration, name: str, source: Source) -> Module:
    ctx = run.ctx
    ctx.loading.append(source.name)
    ctx.sources.append(source)
    parsed = _read(ctx, source)
    frame = Frame(FileContext(source, parsed.program.index_origin, is_faulty=bool(parsed.diagnostics)))
    if source.name.startswith(LIBRARY_PREFIX) and not ctx.incremental:
        frame.file.unreached = _unreached(parsed.program, [one.text for one in ctx.sources if one is not source])
    _elaborate_statements(run, parsed, frame, main=False)
    ctx.loading.pop()
    module = Module(name, frame.by_name())
    ctx.modules[source.name] = module
    return module


def _unreached(program: program_tree.ProgramTree, texts: Sequence[str]) -> frozenset[str]:
    """The functions of a module that neither other files (`texts`) mention nor what they mention uses."""
    functions: dict[str, list[str]] = {}
    pending: list[str] = []
    for statement, uses in zip(program.statements, program.uses, strict=True):
        used = [symbol.name for symbol in uses]
        if isinstance(statement, tree.BindFunction) and statement.target.name not in functions:
            functions[statement.target.name] = used
        else:
            pending += used
    pending += [name for name in functions if any(f".{name}" in text for text in texts)]
    reached: set[str] = set()
    while pending:
        name = pending.pop()
        if name in functions and name not in reached:
            reached.add(name)
            pending += functions[name]
    return frozenset(functions) - reached


def module_names(load: Load, exports: Exports, path: str, importer: str) -> Mapping[str, NameClass] | None:
    """The names that a module exports, with their classes; None if there is no such module."""
    source = load(path, importer)
    if source is None:
        return None
    if source.name not in exports:
        exports[source.name] = {}
        exports[source.name] = parser.parse(source, modules=lambda inner: module_names(load, exports, inner, source.name)).names
    return exports[source.name]
