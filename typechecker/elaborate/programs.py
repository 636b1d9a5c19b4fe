"""Elaborates programs: top-level statements and modules to the finished core; replays statements that have not changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ...lang.bind.directives import check_directives
from ...lang.bind.names import LIBRARY_PREFIX
from ...lang.diagnostics.model import Code, Diagnostic, Severity
from ...lang.support.records import dataclass, replace
from ...lang.syntax import parser
from ...lang.syntax.source import AnchoredSpan, Source, Span, ensure_recursion_headroom
from ...lang.tree import expressions as tree, program as program_tree
from ...lang.tree.expressions import NameClass, Symbol, SymbolKind
from ..core.arrays import CorePrint, ValueId
from ..core.blocks import Block, Core, CoreGuard
from ..core.builder import SPECULATIVE_IDS, Builder, EmittedOps, replay_ops, statement_effect, statement_mark
from ..proof.report_unproved import CHECKED_AT_LOAD
from ..signatures import unify
from ..signatures.unify import eliminate_existentials
from ..values.facts import Operand, TupleOperand, Value
from . import applications, declarations, expressions
from .applications import apply, offer_guard
from .context import (
    NODE_BUDGET,
    BrokenFunction,
    BudgetExceeded,
    CheckCache,
    Context,
    DefinitionKey,
    DefinitionKeys,
    DependencyLevel,
    DfnFunction,
    Entry,
    Exports,
    FileContext,
    Frame,
    Load,
    Module,
    PrimitiveFunction,
    SignedFunction,
    dependency_of,
    detached,
)

# ---------------------------------------------------------------------------------------------------- replay
#
# A log of the ops, bindings and types that one statement produced, replayed for the next version of the program.
#
# The `StatementRecord` of a statement applies if the statement is the same object and its names have the same definitions.  Its
# effect is replayed if the builder is in the same state.  States have numbers: the one after a statement is determined by the one
# before and by the statement's meaning.  A definition that captures nothing has the same effect in every state.
#
# Only statements that emit ops or bind functions are replayed; one that reports, requires, or names a size is elaborated each
# time.

_REPLAYED = (
    tree.Evaluate | tree.BindArray | tree.BindFunction
    | program_tree.StatedType
)
TYPES = program_tree.StatedType
_DEFINING = tree.BindFunction | program_tree.StatedType


@dataclass(frozen=True, slots=True, eq=False)
class StatementEffect:
    """The effect of a statement in `state` (None: in every state): the state `after` it, the ops it emitted, the names it bound,
    the argument spans it recorded, its value, the nodes it took, and the node at which it printed."""

    state: int | None
    after: int
    emitted: EmittedOps | None
    entries: tuple[tuple[Symbol, Entry], ...]
    mentions: tuple[tuple[ValueId, tuple[tuple[Span, Span], ...]], ...]
    value: Value | None
    nodes: int
    printed: int | None


@dataclass(frozen=True, slots=True, eq=False)
class StatementRecord:
    """What is known of a statement: the one name that it binds or declares, its definition key, those of the signature before it,
    of the names in it and of the names it bound, and its effect.  `free`: it neither depends on the builder's state nor changes
    it."""

    statement: program_tree.Statement
    name: str | None
    definition: DefinitionKey
    declared: DefinitionKey | None
    uses: tuple[tuple[Symbol, DefinitionKey | None], ...]
    bound: dict[Symbol, DefinitionKey]
    effect: StatementEffect | None
    free: bool = False

    def means_the_same(self, definition_keys: DefinitionKeys) -> bool:
        """Have all its names the same definitions as before?"""
        if self.name is not None and not self.states_type and definition_keys.declared.get(self.name) is not self.declared:
            return False
        bound = definition_keys.bound
        return all(bound.get(symbol) is definition for symbol, definition in self.uses)

    @property
    def states_type(self) -> bool:
        return isinstance(self.statement, TYPES)


class StatementRecorder:
    """Records the effect of a statement while it is elaborated."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._counts, self._nodes, self._state = statement_mark(ctx.builder), ctx.nodes, ctx.state
        self._mentions, ctx.mentions = ctx.mentions, {}
        ctx.builder.source_names.said.clear()

    def close(self) -> None:
        """Add the argument spans of this statement to those of the statements before."""
        self._new, self._ctx.mentions = self._ctx.mentions, self._mentions
        for value, spans in self._new.items():
            self._mentions.setdefault(value, []).extend(spans)

    def record(
        self,
        before: StatementRecord,
        entries: Sequence[tuple[Symbol, Entry]],
        bound: dict[Symbol, DefinitionKey],
        value: Value | None,
    ) -> StatementRecord:
        """The record of the statement, which has been elaborated."""
        defining = isinstance(before.statement, _DEFINING) and before.definition.dependency is DependencyLevel.NOTHING
        free = defining and statement_mark(self._ctx.builder)[1:] == self._counts[1:]
        if not free:
            self._ctx.state = self._ctx.check_cache.key((self._state, before.definition.key))
        effect = self._effect(before.statement, entries, value, free=free)
        return StatementRecord(
            before.statement, before.name, before.definition, before.declared, before.uses, bound, effect, free
        )

    def _effect(
        self, statement: program_tree.Statement, entries: Sequence[tuple[Symbol, Entry]], value: Value | None, *, free: bool
    ) -> StatementEffect | None:  # fmt: skip
        """The effect of the statement, if it can be replayed."""
        ctx = self._ctx
        if not isinstance(statement, _REPLAYED) or not all(_can_be_rebound(statement, entry) for _, entry in entries):
            return None
        mentions = tuple([(v, tuple(spans)) for v, spans in self._new.items()])
        emitted = statement_effect(ctx.builder, self._counts)
        if emitted is None or not all(isinstance(s, AnchoredSpan) for _, spans in mentions for pair in spans for s in pair):
            return None
        printed = ctx.printed_at - self._nodes if ctx.printed_at > self._nodes else None
        state, nodes = None if free else self._state, ctx.nodes - self._nodes
        return StatementEffect(state, ctx.state, None if free else emitted, tuple(entries), mentions, value, nodes, printed)


def replay(ctx: Context, record: StatementRecord, frame: Frame, declared: dict[str, program_tree.StatedType]) -> bool:
    """Replay a statement; False if it has to be elaborated."""
    effect, definition_keys, name, statement = record.effect, frame.file.definition_keys, record.name, record.statement
    if effect is None or ctx.nodes + effect.nodes > NODE_BUDGET:
        return False
    if effect.state is not None:
        if effect.state != ctx.state:
            return False
        ctx.state = effect.after
        if effect.emitted is not None:
            replay_ops(ctx.builder, effect.emitted)
        if effect.printed is not None:
            ctx.printed_at = ctx.nodes + effect.printed
        for value, spans in effect.mentions:
            ctx.mentions.setdefault(value, []).extend(spans)
    if isinstance(statement, TYPES):
        if statement.target.name in declared:
            return False
        declared[statement.target.name], definition_keys.declared[statement.target.name] = statement, record.definition
    elif name is not None and name in declared:
        del declared[name], definition_keys.declared[name]
    for symbol, entry in effect.entries:
        frame.bind(symbol, _rebound(entry, frame))
    definition_keys.bound.update(record.bound)
    ctx.nodes += effect.nodes
    return True


def _can_be_rebound(statement: program_tree.Statement, entry: Entry) -> bool:
    """Can an entry that a statement bound be bound again: is it a value, or a function written in the statement itself?"""
    match entry:
        case Operand() | TupleOperand() | PrimitiveFunction():
            return True
        case DfnFunction():
            return isinstance(statement, tree.BindFunction) and entry.node is statement.value
        case SignedFunction():
            return _can_be_rebound(statement, entry.body)
        case _:
            return False


def _rebound(entry: Entry, frame: Frame) -> Entry:
    """An entry that a statement bound, with its current captures."""
    match entry:
        case DfnFunction():
            return _with_captures(entry, frame)
        case SignedFunction():
            body = _with_captures(entry.body, frame) if isinstance(entry.body, DfnFunction) else entry.body
            return replace(entry, body=body, file=frame.file, params=dict(frame.file.params), bodies={})
        case _:
            return entry


def _with_captures(function: DfnFunction, frame: Frame) -> DfnFunction:
    return DfnFunction(function.span, function.node, frame.capture(function.node.captures), function.name)


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
    ctx = Context(Builder(0), load, strict, apply, expressions.expression, offer_guard, cache)
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
            ctx.builder.report(diagnostic)
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
            tuple(run.inputs),
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
    """The errors of the schedule blocks that do not depend on devices (SCH101, SCH107, SCH201)."""
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
    """With --strict, a check left to loading or running as an error, with the code of its origin."""
    code = _STRICT.get(diagnostic.code)
    if code is None:
        return diagnostic
    notes = tuple([note for note in diagnostic.notes if note != CHECKED_AT_LOAD])
    return replace(diagnostic, code=diagnostic.origin or code, severity=Severity.ERROR, notes=notes)


def _elaborate_statements(run: declarations.Elaboration, parsed: parser.Parsed, frame: Frame, *, main: bool) -> Value | None:
    """Elaborate the statements in order, continuing after errors; the last value."""
    ctx, program = run.ctx, parsed.program
    before, scheduled = ctx.builder.index_origin, run.scheduled
    ctx.builder.index_origin = frame.file.index_origin
    run.scheduled = _schedule_words(program)
    declared: dict[str, program_tree.StatedType] = {}
    last: Value | None = None
    ctx.state = ctx.check_cache.key((ctx.state, frame.file.index_origin, run.scheduled))
    for statement, uses in zip(program.statements, program.uses, strict=True):
        value = _elaborate_or_replay(run, statement, uses, frame, declared, main=main)
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


def _elaborate_or_replay(
    run: declarations.Elaboration,
    statement: program_tree.Statement,
    uses: Collection[Symbol],
    frame: Frame,
    declared: dict[str, program_tree.StatedType],
    *,
    main: bool,
) -> Value | None:
    """Replay a top-level statement if it means the same as in the previous version, else elaborate it; its value, if any."""
    ctx, definition_keys, check_cache = run.ctx, frame.file.definition_keys, run.ctx.check_cache
    record = check_cache.records.get(id(statement))
    if not isinstance(record, StatementRecord) or record.statement is not statement or not record.means_the_same(definition_keys):
        record = _new_record(ctx, statement, uses, frame, definition_keys)
    elif replay(ctx, record, frame, declared):
        assert record.effect is not None
        return record.effect.value
    if not record.states_type and record.name is not None:
        definition_keys.declared.pop(record.name, None)
    started, definition_keys.current = len(frame.bound), record.definition
    recording = StatementRecorder(ctx)
    try:
        value = _statement(run, statement, frame, declared, main=main)
    except RecursionError:
        ctx.builder.rollback(_mark_without_blocks(ctx))
        raise BudgetExceeded([Diagnostic(Code.E610, "this statement nests functions too deeply", statement.span)]) from None
    finally:
        recording.close()
    definition_keys.current = None
    if record.states_type and record.name is not None:
        definition_keys.declared[record.name] = record.definition
    entries = [(symbol, entry) for symbol, entry in dict(frame.bound[started:]).items() if isinstance(symbol, Symbol)]
    texts = [source.text for source in ctx.sources] if isinstance(statement, program_tree.ModuleUse) else []
    bound = {
        symbol: check_cache.with_texts(record.definition, texts, dependency_of(entry), record.bound.get(symbol)) for symbol,
        entry in entries
    }
    definition_keys.bound.update(bound)
    check_cache.records.put(id(statement), recording.record(record, entries, bound, value))
    return value


def _new_record(
    ctx: Context, statement: program_tree.Statement, uses: Collection[Symbol], frame: Frame, definition_keys: DefinitionKeys
) -> StatementRecord:
    """The record of a statement whose meaning is new, without an effect yet."""
    span, name = statement.span, None
    if isinstance(statement, tree.BindFunction | tree.BindArray | tree.BindOperator | program_tree.StatedType):
        target = statement.target
        name = target.name if isinstance(target, tree.NameTarget | program_tree.StatedName) else None
    declared = None if name is None or isinstance(statement, TYPES) else definition_keys.declared.get(name)
    text = frame.file.source.text[span.start : span.end]
    used = tuple([(symbol, definition_keys.bound.get(symbol)) for symbol in uses])
    definition = ctx.check_cache.definition(used, text, span, frame.file.index_origin, declared)
    if any(symbol.kind is SymbolKind.SIZE for symbol in uses):  # as a number
        definition = replace(definition, dependency=DependencyLevel.SIZES)
    return StatementRecord(statement, name, definition, declared, used, {}, None)


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
    if ctx.check_cache.well_formed.get(key) is None and unify.well_formed(ctx, eliminate_existentials(signature, params), params):
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
