"""Programs: top-level statements, inputs, params, outputs, modules; the finished core."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...lang import parser, tree
from ...lang.codes import Code
from ...lang.diagnostics import Diagnostic, Severity
from ...lang.directives import check_directives
from ...lang.limits import ensure_recursion_headroom
from ...lang.records import dataclass
from ...lang.source import Source, Span
from ..builder import ASIDE, Builder
from ..core import Block, Core, CoreGuard, Print, ValueId
from ..operands import Operand, TupleOperand, Value
from ..undecided import CHECKED_AT_LOAD
from . import bindings, declarations, expressions, recursion, resolve, signature_form
from .applications import apply
from .context import BudgetExceeded, Context, Exports, Load
from .environment import BrokenFunction, Entry, FileContext, Module, Scope
from .reach import reach_of
from .replaying import TYPES, Done, Recording, replay
from .sites import Memory, Site, Sites, fixed
from .type_expressions import DeclaredType, TupleType
from .unseen import without_unseen


@dataclass(frozen=True, slots=True)
class Elaborated:
    """The core (None if anything is wrong), what was reported, the top-level names, the context they may be applied in, and
    the sites they were bound at."""

    core: Core | None
    diagnostics: tuple[Diagnostic, ...]
    names: Mapping[str, Entry]
    last: Value | None
    context: Context
    sites: Mapping[str, Site]


def elaborate(
    source: Source, load: Load, *, strict: bool = False, index_origin: int | None = None, memory: Memory | None = None
) -> Elaborated:
    """Parse, bind and elaborate a whole program; `memory` is what earlier versions of it left behind."""
    ensure_recursion_headroom()
    ctx = Context(Builder(0), load, strict, apply, expressions.expression, Memory() if memory is None else memory)
    ctx.incremental = memory is not None
    run = declarations.Elaboration(ctx)
    ctx.sources.append(source)
    ctx.builder.wording.sources = ctx.sources
    program = _read(ctx, source)
    origin = program.index_origin if index_origin is None else index_origin
    scope = Scope(FileContext(source, origin, sites=Sites()))
    last: Value | None = None
    try:
        last = _run(run, program, scope, main=True)
    except BudgetExceeded as budget:
        for diagnostic in budget.diagnostics:
            ctx.builder.report(diagnostic)
    block = ctx.builder.close_block(())
    for problem in _wrong_in_schedules(run, scope, source, block):
        ctx.builder.report(problem)
    found = ctx.builder.reports.diagnostics if memory is None else map(fixed, ctx.builder.reports.diagnostics)
    diagnostics = tuple([_strictly(d) if strict else d for d in found])
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
            tuple(builder.ledger.guards),
            {value: type for value, type in builder.types.items() if value < ASIDE},
            builder.spans,
            builder.wording.names,
            tuple(run.schedules),
            tuple(ctx.sources),
            tuple(builder.ledger.promises),
            _once(builder.ledger.solved),
        )
        moved = _read_after_moves(core, names, ctx) if run.schedules else []
        if moved:
            core, diagnostics = None, (*diagnostics, *moved)
    return Elaborated(core, diagnostics, names, last, ctx, {} if scope.file.sites is None else scope.file.sites.bound)


def _once(guards: Sequence[CoreGuard]) -> tuple[CoreGuard, ...]:
    """Each fact once, where it came up first."""
    return tuple({(g.fact.relation, g.fact.left.key, g.fact.right.key): g for g in reversed(guards)}.values())[::-1]


def _wrong_in_schedules(run: declarations.Elaboration, scope: Scope, source: Source, block: Block) -> list[Diagnostic]:
    """What is wrong with the schedule blocks on any devices (SCH101, SCH107, SCH201)."""
    if not run.schedules:
        return []
    spans = run.ctx.builder.spans
    arguments = [op.arg for op in block.ops if isinstance(op, Print)]
    printed = {run.ctx.builder.wording.names[arg] for arg in arguments if arg in run.ctx.builder.wording.names}
    names: dict[str, str | list[Span]] = {}
    for name in scope.names():
        entries = scope.bindings(name)
        match entries[-1]:
            case Operand():
                names[name] = [spans[entry.value] for entry in entries if isinstance(entry, Operand) and entry.value in spans]
            case TupleOperand():
                names[name] = "a tuple"
            case Module():
                names[name] = "a module"
            case _:
                names[name] = "a function"
    complete = not any(diagnostic.is_error for diagnostic in run.ctx.builder.reports.diagnostics)
    found: list[Diagnostic] = []
    for schedule in run.schedules:
        mine = schedule.span.file == source.name  # a module's names are its own
        found += check_directives(schedule.directives, names if mine else {}, printed, complete=mine and complete)
    return found


def _read(ctx: Context, source: Source) -> tree.Program:
    """The bound statements of a file, what is wrong with them reported."""
    parsed = read(source, ctx.load, ctx.exports, ctx.memory if ctx.incremental else None)
    for problem in parsed.diagnostics:
        ctx.builder.report(problem)
    return parsed.program


def read(source: Source, load: Load, exports: Exports, memory: Memory | None) -> parser.Parsed:
    """The bound statements of a file; those that are known if it has just been read."""


    def modules(path: str) -> Mapping[str, tree.NameClass] | None:
        return module_names(load, exports, path, source.name)

    if memory is None:
        return parser.parse(source, modules=modules)
    if memory.read is None or memory.read[0] is not source:
        memory.read = source, parser.parse(source, modules=modules, remembered=memory.statements)
    return memory.read[1]


def _read_after_moves(core: Core, names: Mapping[str, Entry], ctx: Context) -> list[Diagnostic]:
    """What the schedule's moves forbid (E502)."""
    from ..quantities.moves import read_after_moves

    def named(name: str) -> ValueId | None:
        entry = names.get(name)
        return entry.value if isinstance(entry, Operand) else None

    return read_after_moves(core, named, ctx.mentions)


_STRICT = {Code.W201: Code.E201, Code.W310: Code.E310}


def _strictly(diagnostic: Diagnostic) -> Diagnostic:
    """Under --strict what would be checked at load or when run is an error, with the code of where it came from."""
    code = _STRICT.get(diagnostic.code)
    if code is None:
        return diagnostic
    notes = tuple([note for note in diagnostic.notes if note != CHECKED_AT_LOAD])
    return replace(diagnostic, code=diagnostic.origin or code, severity=Severity.ERROR, notes=notes)


def _run(run: declarations.Elaboration, program: tree.Program, scope: Scope, *, main: bool) -> Value | None:
    """Elaborate the statements in order; after an error go on with the next one."""
    ctx = run.ctx
    before, scheduled = ctx.builder.index_origin, run.scheduled
    ctx.builder.index_origin = scope.file.index_origin
    run.scheduled = _scheduled(program)
    declared: dict[str, tree.Signature | tree.Annotation] = {}
    last: Value | None = None
    ctx.state = ctx.memory.key((ctx.state, scope.file.index_origin, run.scheduled))
    for statement in program.statements:
        value = _once_more(run, statement, scope, declared, main=main)
        last = value if value is not None else last
    for name, leftover in declared.items():
        if _unreadable_after(ctx, leftover.span):
            continue  # what could not be read may be the binding
        ctx.error(Code.E011, f"`{name}` has a type, but no binding follows it", leftover.span)
    ctx.builder.index_origin, run.scheduled = before, scheduled
    return last


def _scheduled(program: tree.Program) -> frozenset[str]:
    """The words of a file's schedule blocks, names of values among them."""
    found: set[str] = set()
    pending = [d for statement in program.statements if isinstance(statement, tree.Schedule) for d in statement.directives]
    while pending:
        for word in pending.pop().words:
            if isinstance(word, tree.DirectiveWord):
                found.update((word.text, *word.text.split(",")))
            else:
                pending.extend(word.directives)
    return frozenset(found)


def _once_more(
    run: declarations.Elaboration,
    statement: tree.Statement,
    scope: Scope,
    declared: dict[str, tree.Signature | tree.Annotation],
    *,
    main: bool,
) -> Value | None:
    """One top-level statement, done again as in the version before if it means the same, else elaborated; its value, if any."""
    ctx, sites, memory = run.ctx, scope.file.sites, run.ctx.memory
    assert sites is not None
    done = memory.done.get(id(statement))
    if not isinstance(done, Done) or done.statement is not statement or not done.means_the_same(sites):
        done = _site(ctx, statement, scope, sites)
    elif replay(ctx, done, scope, declared):
        assert done.effect is not None
        return done.effect.value
    if not done.states_type and done.name is not None:
        sites.declared.pop(done.name, None)
    started, sites.current = scope.now(), done.site
    recording = Recording(ctx, started)
    try:
        value = _statement(run, statement, scope, declared, main=main)
    except RecursionError:
        ctx.builder.rollback(_bare(ctx))
        raise BudgetExceeded([Diagnostic(Code.E610, "this statement nests functions too deeply", statement.span)]) from None
    finally:
        recording.close()
    sites.current = None
    if done.states_type and done.name is not None:
        sites.declared[done.name] = done.site
    entries = scope.bound_since(started)
    texts = [source.text for source in ctx.sources] if isinstance(statement, tree.Use) else []
    bound = {name: memory.with_texts(done.site, texts, reach_of(entry), done.bound.get(name)) for name, entry in entries}
    sites.bound.update(bound)
    memory.done.put(id(statement), recording.done(done, entries, bound, value))
    return value


def _site(ctx: Context, statement: tree.Statement, scope: Scope, sites: Sites) -> Done:
    """The site of a statement that means something else than in the version before, with nothing done yet."""
    span, name = statement.span, None
    if isinstance(statement, tree.BindFunction | tree.BindArray | tree.BindOperator | tree.Signature | tree.Annotation):
        name = statement.target.name if isinstance(statement.target, tree.NameTarget) else None
    declared = None if name is None or isinstance(statement, TYPES) else sites.declared.get(name)
    text = scope.file.source.text[span.start : span.end]
    words = tuple([(word, sites.bound.get(word)) for word in ctx.memory.statements.words(text)])
    site = ctx.memory.site(words, text, span, scope.file.index_origin, declared)
    return Done(statement, name, site, declared, words, {}, None)


def _unreadable_after(ctx: Context, span: Span) -> bool:
    """Was a later statement of the file refused by the parser or the binder?"""
    return any(d.code < "E1" and d.span.file == span.file and d.span.start > span.end for d in ctx.builder.reports.diagnostics)


def _bare(ctx: Context) -> tuple[int, ...]:
    """A mark that keeps everything but the blocks left open."""
    whole = ctx.builder.mark()
    return whole[: len(whole) - (ctx.builder.depth - 1)]


def _statement(
    run: declarations.Elaboration,
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
            if main and not _is_silent(statement.value) and not _has_printed(ctx):
                expressions.print_value(ctx, value, statement.span)
            return value
        case tree.BindArray():
            return bindings.bind_array(run, statement, scope, declared)
        case tree.BindFunction():
            bindings.bind_function(ctx, statement, scope, declared)
        case tree.BindOperator():
            name = statement.target.name
            if recursion.refuse_recursion(ctx, name, statement.value, statement.target.span):
                scope.bind(name, BrokenFunction(statement.span))
            else:
                found = resolve.operator(ctx, statement.value, scope)
                scope.bind(name, BrokenFunction(statement.span) if found is None else found)
        case tree.BareFunction():
            ctx.error(Code.E134, "the value of this statement is a function: give it arguments, or a name", statement.span)
        case tree.Signature():
            _check_form(ctx, statement, scope)
            if (earlier := declared.get(statement.target.name)) is not None:
                ctx.error(Code.E011, f"`{statement.target.name}` has a type, but no binding follows it", earlier.span)
            declared[statement.target.name] = statement
        case tree.Annotation():
            declared[statement.target.name] = statement
        case tree.Input():
            declarations.input(run, statement, scope, main=main)
        case tree.Param():
            declarations.param(run, statement, scope)
        case tree.Output():
            return declarations.output(run, statement, scope, main=main)
        case tree.Use():
            _use(run, statement, scope)
        case tree.Schedule():
            run.schedules.append(statement)
        case tree.Guard():
            ctx.error(Code.E017, "a guard belongs inside `{}`", statement.span)
    return None


def _check_form(ctx: Context, signature: tree.Signature, scope: Scope) -> None:
    """Report what is wrong with a signature by itself, unless an earlier version had it and nothing was."""
    sites, params = scope.file.sites, frozenset(scope.file.params)
    assert sites is not None and sites.current is not None
    key = (sites.current.key, params)
    if ctx.memory.well_formed.get(key) is None and signature_form.well_formed(ctx, without_unseen(signature, params), params):
        ctx.memory.well_formed.put(key, True)


def _is_silent(node: tree.Expression) -> bool:
    """Assignments are silent and `⎕←e` has printed already."""
    return isinstance(node, (tree.Print, tree.Replace, tree.Modify))


def _has_printed(ctx: Context) -> bool:
    """Was printing its value the last thing the statement did (`⎕←` at the end of the function it called)?"""
    return ctx.printed_at == ctx.nodes and isinstance(ctx.builder.latest(), Print)


# ----------------------------------------------------------------------------------- modules


def _use(run: declarations.Elaboration, statement: tree.Use, scope: Scope) -> None:
    ctx = run.ctx
    name = statement.target.name
    path = statement.path if statement.path is not None else name
    source = ctx.load(path, scope.file.source.name)
    if source is None:
        ctx.error(Code.E019, f"there is no module `{path}`", statement.span)
        scope.bind(name, BrokenFunction(statement.span))
        return
    module = ctx.modules.get(source.name)
    if module is None:
        if source.name in ctx.loading:
            cycle = " → ".join([*ctx.loading[ctx.loading.index(source.name) :], source.name])
            ctx.error(Code.E600, f"these files use each other: {cycle}", statement.span)
            scope.bind(name, BrokenFunction(statement.span))
            return
        module = _load(run, name, source)
    scope.bind(name, module)


def _load(run: declarations.Elaboration, name: str, source: Source) -> Module:
    ctx = run.ctx
    ctx.loading.append(source.name)
    ctx.sources.append(source)
    program = _read(ctx, source)
    scope = Scope(FileContext(source, program.index_origin, sites=Sites()))
    _run(run, program, scope, main=False)
    ctx.loading.pop()
    module = Module(name, scope)
    ctx.modules[source.name] = module
    return module


def module_names(load: Load, exports: Exports, path: str, importer: str) -> Mapping[str, tree.NameClass] | None:
    """What a module exports, for the binder; None if there is no such module."""
    source = load(path, importer)
    if source is None:
        return None
    if source.name not in exports:
        exports[source.name] = {}
        exports[source.name] = parser.parse(source, modules=lambda inner: module_names(load, exports, inner, source.name)).names
    return exports[source.name]


def type_of(value: Value) -> DeclaredType:
    """The type of a value, tuples included."""
    if isinstance(value, Operand):
        return value.type
    items: list[DeclaredType] = []
    for item in value.items:
        items.append(type_of(item))
    return TupleType(tuple(items))
