"""Runs the entries of a session one after the other; an entry that fails changes nothing.

An entry is checked as a whole before any of it runs; then its statements run one by one.  Values are stored as arrays with
numbers for sizes, so that nothing is computed twice; `entry_program` defines which values stay text.  `ans` is the value of the
last expression.  The state is replaced only when an entry has succeeded, so that an interrupt leaves the session as it was.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from ...backend.vm.values import kind_of_dtype
from ...lang.bind.statement_dependencies import Statement, StatementKind, statements_of, without_printing, words
from ...lang.diagnostics.model import Code, Diagnostic, Refused, RhoError
from ...lang.foreign import hints
from ...lang.support.records import dataclass, field, replace
from ...lang.syntax.glyph_input import GlyphText, to_glyphs
from ...lang.syntax.reader import split_statements
from ...lang.syntax.source import Source, Span
from ...typechecker.check import Checker, show_value_type
from ...typechecker.core.operations import CorePrint
from ...typechecker.diagnostics import IN_THIS_CALL
from ...typechecker.elements import ArrayType, Element, Kind
from ...typechecker.sizes.polynomials import Size, SizeVariable
from ...typechecker.values.facts import Operand, TupleOperand, Value
from ..console.process_exit import Exit
from ..console.standard_streams import exit_of
from ..display.values import DisplayedValue, line_count
from ..execution.run_request import RunRequest
from ..pipeline import Session
from ..pipeline_types import Checked, LoadedProgram
from .entry_program import (
    ANSWER,
    EntryLayout,
    Leaf,
    SessionEntry,
    SessionItem,
    SessionState,
    SessionValue,
    TextItem,
    ValueItem,
    ValueTree,
    add_statement,
    leaves,
    program_before,
    text_with_sizes,
)

# ---------------------------------------------------------------------------------------------------- printed values

MOST_ITEMS, MOST_CHARACTERS, MOST_LINES = 2_000, 4_000, 200
"""The most items, characters and lines of a printed value whose text is recorded; for a larger one only the number of lines
is."""


def printed_record(shown: DisplayedValue) -> str | int:
    """The record of a printed value in the session: its text, or the number of its lines if it is long."""
    if shown.kind is not Kind.CHAR and math.prod(shown.shape) > MOST_ITEMS:
        return line_count(shown.shape)
    text = shown.text()
    lines = text.count("\n") + 1
    return text if len(text) <= MOST_CHARACTERS and lines <= MOST_LINES else lines


# ---------------------------------------------------------------------------------------------------- workspace

_MOST_SOURCES: Final = 512
_MOST_ENTRIES: Final = 300
"""The most entries of a session in which a new entry is also checked as part of a program."""
_SIZES_AND_BOUNDS: Final = frozenset({"E1", "E2", "E4"})
"""Codes of diagnostics that depend on sizes, which are numbers in a session."""


@dataclass(frozen=True, slots=True)
class EntryResult:
    """The result of an entry: the values `printed`, diagnostics of the typed text, and notes of the session."""

    exit: Exit
    printed: tuple[DisplayedValue, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckedEntry:
    """A text that was checked in the session but not entered: its program, the result, diagnostics of the typed text."""

    layout: EntryLayout
    checked: Checked
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, Source]


class _EntryFailed(Exception):
    """Ends the evaluation of an entry that fails."""

    def __init__(self, exit: Exit, diagnostics: Sequence[Diagnostic]) -> None:
        self.exit, self.diagnostics = exit, tuple(diagnostics)
        super().__init__()


@dataclass(slots=True)
class _EvaluationProgress:
    """The progress of an entry: the state after the statements that ran, and their output."""

    state: SessionState
    glyphs: GlyphText
    printed: list[DisplayedValue] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class Workspace:
    """A session.  Not thread-safe, but another thread may call `check` with a checker of its own during `enter`."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.state = SessionState()
        self.sources: dict[str, Source] = {}
        self._checker = session.checker()
        self._program_checker = session.checker()

    # ------------------------------------------------------------------------------------- entering

    def enter(self, text: str, name: str | None = None) -> EntryResult:
        """Check and run statements; messages call the text `name`."""
        entered, self.state = self.evaluate(text, name)
        return entered

    def undo(self) -> str | None:
        """Take back the last entry; returns its text, or None if there is none."""
        if not self.state.earlier:
            return None
        *earlier, last = self.state.earlier
        text = self.state.log[-1].text
        self.state = replace(last, earlier=tuple(earlier))
        return text

    @property
    def entry_name(self) -> str:
        """The name of the next entry in messages."""
        return f"<entry {len(self.state.log) + 1}>"

    def abandon(self) -> None:
        """Give up the mutable objects shared with an interrupted `evaluate`, which may still run in another thread."""
        self._checker = self.session.checker()
        self._program_checker = self.session.checker()

    def evaluate(self, text: str, name: str | None = None) -> tuple[EntryResult, SessionState]:
        """Check and run statements; returns the result and the state after them, and leaves the session's state as it is."""
        source = Source(name or self.entry_name, text)
        self._store_source(source)
        glyphs = to_glyphs(source)
        try:
            checked, layout = self._check_whole(glyphs)
            warnings = tuple([d for d in map(layout.diagnostic, checked.diagnostics) if d.span.file == source.name])
            progress = _EvaluationProgress(self.state, glyphs)
            for statement in statements_of(text, self.state.kinds):
                self._step(progress, statement)
        except _EntryFailed as stopped:
            return EntryResult(stopped.exit, (), stopped.diagnostics), self.state
        printed = tuple(progress.printed)
        entry = SessionEntry(text.rstrip("\n"), tuple([printed_record(shown) for shown in printed]))
        state = replace(progress.state, log=(*progress.state.log, entry)).with_history(self.state)
        diagnostics = (*warnings, *hints.lint_foreign_syntax(source, warnings, self._diagnostics))
        notes = (*progress.notes, *self._program_errors(text))
        return EntryResult(Exit.OK, printed, diagnostics, notes), state

    def _program_errors(self, text: str) -> Iterator[str]:
        """Notes on errors that an entry would have in a program with the session's statements, where sizes are not numbers."""
        before = [entry.text for entry in self.state.log]
        if len(before) > _MOST_ENTRIES or not any("input" in entry for entry in before):
            return
        program = Source("<program>", "\n".join([*before, text]))
        start = len(program.text) - len(text)
        errors = [d for d in self.session.check(program, self._program_checker).diagnostics if d.is_error]
        for error in errors:
            spans = [error.span, *[label.span for label in error.labels if label.message == IN_THIS_CALL]]
            here = any(span.file == program.name and span.start >= start for span in spans)
            if error.code[:2] in _SIZES_AND_BOUNDS and here:
                cures = [*[fix.title for fix in error.fixes], *error.notes]
                yield f"in a program: {error.code}: {error.message}" + (f" ({cures[0]})" if cures else "")

    def _diagnostics(self, source: Source) -> Sequence[Diagnostic]:
        """The diagnostics of a text as `evaluate` checks it."""
        try:
            return self.session.check(self._layout(self.state, to_glyphs(source)).source).diagnostics
        except _EntryFailed as stopped:
            return stopped.diagnostics

    def _store_source(self, source: Source) -> None:
        """Store a text that messages may point into; drop old texts that no item of the session comes from."""
        if len(self.sources) > _MOST_SOURCES + 2 * len(self.state.latest):
            living = {item.origin.file for item in self.state.items}
            latest = list(self.sources)[-_MOST_SOURCES // 2 :]
            self.sources = {name: text for name, text in self.sources.items() if name in living or name in latest}
        self.sources[source.name] = source

    def _check_whole(self, glyphs: GlyphText) -> tuple[Checked, EntryLayout]:
        """Check all statements of an entry at once, so that nothing runs if one has an error."""
        layout = self._layout(self.state, glyphs)
        checked = self.session.check(layout.source, self._checker)
        self.sources |= {name: source for name, source in checked.sources.items() if name != layout.source.name}
        if any(one.code == Code.E001 for one in checked.diagnostics):  # names that the entry does not mention may be meant
            layout = self._layout(self.state, glyphs, self.state.latest)
            checked = self.session.check(layout.source)
        if checked.core is None:
            refused = any(one.code == Code.E707 for one in checked.diagnostics)
            diagnostics = _in_typed_text(checked.diagnostics, layout)
            raise _EntryFailed(Exit.REFUSED if refused else Exit.REJECTED, diagnostics)
        return checked, layout

    def _layout(self, state: SessionState, glyphs: GlyphText, mentions: Collection[str] | None = None) -> EntryLayout:
        """The program of an entry, after the items of the session that `mentions` (by default, its words) refer to."""
        statements = statements_of(glyphs.text)
        origin = [s for s in statements if s.kind is StatementKind.ORIGIN]
        broken = any(piece.error is not None for piece in split_statements(glyphs)) or glyphs.diagnostics
        mentions = words(glyphs.text) if mentions is None else mentions
        layout = program_before(state, mentions, any(s.kind is StatementKind.INPUT for s in statements))
        if origin and state.latest:
            message = "`⎕IO` is set, to 0 or 1, before anything else of a session"
            raise _EntryFailed(Exit.REJECTED, [Diagnostic(Code.E018, message, glyphs.span(origin[0].start, origin[0].end))])
        if origin and not broken:
            layout = EntryLayout()
        if broken:
            layout.line(glyphs.text, Span(glyphs.file, 0, len(glyphs.text)), glyphs)
            for diagnostic in glyphs.diagnostics:
                raise _EntryFailed(Exit.REJECTED, [diagnostic])
        else:
            for statement in statements:
                add_statement(layout, state, statement, glyphs)
        return layout

    # ------------------------------------------------------------------------------- one statement

    def _step(self, progress: _EvaluationProgress, statement: Statement) -> None:
        state, glyphs = progress.state, progress.glyphs
        if statement.kind is StatementKind.ORIGIN:
            progress.state = replace(state, origin=int(statement.text[-1]))
            return
        if statement.kind is StatementKind.SCHEDULE:
            progress.notes.append("a schedule holds for programs; here it is only checked")
            return
        layout = program_before(state, words(statement.text), statement.kind is StatementKind.INPUT)
        add_statement(layout, state, statement, glyphs)
        checked = self._require_accepted(layout)
        assert checked.result is not None
        elaborated = checked.result.elaborated
        bound = {name: elaborated.names.get(name) for name in statement.names}
        values = {name: value for name, value in bound.items() if isinstance(value, (Operand, TupleOperand))}
        functions = [name for name in statement.names if name in elaborated.names and name not in values]
        answers = statement.kind is StatementKind.EXPRESSION and elaborated.last is not None and not statement.changes
        is_input = statement.kind is StatementKind.INPUT
        computed = {name: value for name, value in values.items() if is_input or not _stays_text(value)}
        if answers and elaborated.last is not None:
            values[ANSWER] = elaborated.last
            if not _stays_text(elaborated.last):
                computed[ANSWER] = elaborated.last
        hidden: dict[str, SessionValue] = {}
        shown_types = {name: show_value_type(value) for name, value in values.items()}
        origin = glyphs.span(statement.start, statement.end)
        if computed or answers or statement.prints or statement.kind is StatementKind.INPUT:
            hidden = self._run(progress, statement, layout, checked, computed, answers)
        items: list[SessionItem] = []
        textual = [name for name in values if name not in hidden]
        if functions or textual:
            text = text_with_sizes(state, statement, glyphs)
            items += _text_items(statement, text, functions, textual, values, origin, answers)
        items += [ValueItem(name, value, origin) for name, value in hidden.items()]
        types = state.types | shown_types | {name: checked.types.get(name, "function") for name in functions}
        types |= {name: _type_of(value) for name, value in hidden.items()}
        progress.state = _with_size_numbers(
            progress.state.with_items(items, types), checked, layout, statement, hidden
        )

    def _require_accepted(self, layout: EntryLayout) -> Checked:
        checked = self.session.check(layout.source, self._checker)
        if checked.core is None:
            raise _EntryFailed(Exit.REJECTED, _in_typed_text(checked.diagnostics, layout))
        return checked

    def _run(
        self, progress: _EvaluationProgress, statement: Statement, plain: EntryLayout, checked: Checked,
        computed: Mapping[str, Value], answers: bool,
    ) -> dict[str, SessionValue]:  # fmt: skip
        """Run a statement; returns the values to store by name.  A value without a name (formatted text) is only printed."""
        state = progress.state
        layout = program_before(state, words(statement.text), statement.kind is StatementKind.INPUT)
        add_statement(layout, state, statement, progress.glyphs, f"{ANSWER} ← {statement.text}" if answers else None)
        if answers and _print_count(self.session.check(layout.source, self._checker)) < _print_count(checked):
            layout.line(ANSWER, progress.glyphs.span(statement.start, statement.end))
        counter = state.counter
        hidden: dict[str, SessionValue] = {}
        for name, value in computed.items():
            counter += 1
            hidden[name] = _placeholder(value, f"∆∆{counter}")
            statement_span = progress.glyphs.span(statement.start, statement.end)
            if isinstance(hidden[name], ValueTree):
                layout.line(f"{_target(hidden[name])} ← {name}", statement_span)
                for leaf in leaves(hidden[name]):
                    layout.line(f"output {leaf.name}", statement_span)
            else:
                layout.line(f"output ∆∆{counter} ← {name}", statement_span)
        again = self.session.check(layout.source, self._checker)
        if again.core is None:
            layout, again, hidden = plain, checked, {}
        try:
            loaded = self._loaded(layout, again)
            outcome = self.session.run(loaded)
        except RhoError as error:
            raise _EntryFailed(exit_of(error), _in_typed_text(error.diagnostics, layout)) from None
        progress.printed += outcome.printed
        progress.state = replace(state, counter=counter)
        from ..execution.run_request import as_numpy

        arrays = {name: as_numpy(shown.value) for name, shown in outcome.outputs.items()}
        return {name: _with_arrays(value, arrays, loaded, state.origin) for name, value in hidden.items()}

    # ------------------------------------------------------------------------------------- asking

    def check(self, text: str, checker: Checker | None = None) -> CheckedEntry:
        """Check a text in the session without entering it."""
        source = Source("<asked>", text)
        glyphs, sources = to_glyphs(source), self.sources | {source.name: source}
        try:
            layout = self._layout(self.state, glyphs)
        except _EntryFailed as stopped:
            return CheckedEntry(EntryLayout(), Checked(source, None, stopped.diagnostics, {}), stopped.diagnostics, sources)
        checked = self.session.check(layout.source, checker or self._checker)
        return CheckedEntry(layout, checked, tuple(_in_typed_text(checked.diagnostics, layout)), sources)

    def describe(self, name: str) -> tuple[str, ...]:
        """A name with its type, a function with its signatures."""
        result = self.session.check(program_before(self.state, {name}).source, self._checker).result
        return () if result is None else result.describe(name)

    def _loaded(self, layout: EntryLayout, checked: Checked, *, full: bool = False) -> LoadedProgram:
        """Load a program of the session.  Refused: files, permissions, guards, memory."""
        assert checked.core is not None
        for entry in checked.core.data:
            if entry.path is None and entry.name not in layout.arrays:
                notes = ('in a session write the file too: input x : f64[n] ← "x.npy"',)
                raise Refused([Diagnostic(Code.E704, f"the input `{entry.name}` names no file", entry.span, notes=notes)])
        return self.session.load(checked, RunRequest(arrays=layout.arrays), full=full)

    def prepare(self, entry: CheckedEntry, *, full: bool = False) -> LoadedProgram:
        """Load a checked entry.  Raises the RhoError of loading with spans in the typed text."""
        try:
            return self._loaded(entry.layout, entry.checked, full=full)
        except RhoError as error:
            raise type(error)(_in_typed_text(error.diagnostics, entry.layout), entry.sources) from None

    def value(self, name: str) -> Any:
        """The array of a name; None if it is text or a tuple."""
        item = self.state.latest.get(name)
        return item.value.array if isinstance(item, ValueItem) and isinstance(item.value, Leaf) else None

    def forget(self, *names: str) -> None:
        """Remove names; functions that mention them keep their meaning."""
        state = self.state
        latest = {name: item for name, item in state.latest.items() if name not in names}
        self.state = replace(state, latest=latest, types={n: t for n, t in state.types.items() if n not in names})


def _text_items(
    statement: Statement, text: str, functions: Sequence[str], textual: Sequence[str], values: Mapping[str, Value], origin: Span,
    answers: bool,
) -> Iterator[SessionItem]:  # fmt: skip
    """The items of a statement that stay text; a scalar known to the checker becomes a literal, so that chains of `ans` do not
    grow."""
    literals = {name: literal for name in textual if (literal := _literal(values[name])) is not None}
    rest = [name for name in textual if name not in literals]
    text = text if functions else without_printing(text)
    if statement.kind is StatementKind.OUTPUT:
        text = text.removeprefix("output").strip()
    if answers:
        text = f"{ANSWER} ← {text}"
    if (functions or rest) and (statement.kind is not StatementKind.OUTPUT or "←" in text):
        yield TextItem((*functions, *rest), text, statement.needs, origin)
    for name, literal in literals.items():
        yield TextItem((name,), f"{name} ← {literal}", frozenset(), origin)


def _print_count(checked: Checked) -> int:
    """The number of values that a program prints."""
    return 0 if checked.core is None else sum(isinstance(op, CorePrint) for op in checked.core.block.ops)


def _in_typed_text(diagnostics: Sequence[Diagnostic], layout: EntryLayout) -> list[Diagnostic]:
    return [layout.diagnostic(one) for one in diagnostics]


def _stays_text(value: Value) -> bool:
    """Does a value stay text: is it a constant of the checker, or a literal whose type adapts to its operands?"""
    if isinstance(value, TupleOperand):
        return bool(value.items) and all(_stays_text(item) for item in value.items)
    return value.static is not None or value.constant is not None or value.type.element.weak


def _literal(value: Value) -> str | None:
    """The literal of an integer scalar that the checker knows; else None."""
    if not isinstance(value, Operand) or value.type.rank or isinstance(value.static, tuple) or value.static is None:
        return None
    number = value.static.constant
    return None if number is None or not value.type.element.weak else str(number).replace("-", "¯")


def _placeholder(value: Value, name: str) -> SessionValue:
    if isinstance(value, TupleOperand):
        return ValueTree(tuple([_placeholder(item, f"{name}_{index}") for index, item in enumerate(value.items)]))
    return Leaf(name, "", None)


def _target(value: SessionValue) -> str:
    return value.name if isinstance(value, Leaf) else "(" + " ".join(_target(item) for item in value.items) + ")"


def _with_arrays(value: SessionValue, arrays: Mapping[str, Any], loaded: LoadedProgram, origin: int) -> SessionValue:
    if isinstance(value, ValueTree):
        return ValueTree(tuple([_with_arrays(item, arrays, loaded, origin) for item in value.items]))

    entry = next(entry for entry in loaded.core.outputs if entry.name == value.name)
    return concrete_leaf(value.name, arrays[value.name], loaded.core.types[entry.value], loaded.bound.sizes, origin)


def _type_of(value: SessionValue) -> str:
    if isinstance(value, Leaf):
        return value.type
    return "(" + " ⋄ ".join(_type_of(item) for item in value.items) + ")"


def _with_size_numbers(state: SessionState, checked: Checked, layout: EntryLayout, statement: Statement, hidden: Mapping[str,
    SessionValue]) -> SessionState:
    """The state with numbers for the sizes that an `input` or a `param` declares."""
    if statement.kind not in (StatementKind.INPUT, StatementKind.PARAM) or checked.core is None:
        replaced = set(statement.names)  # these names are values in the new state
        sizes = {name: size for name, size in state.sizes.items() if name not in replaced}
        return replace(state, sizes=sizes, params=state.params - replaced)
    if statement.kind is StatementKind.PARAM:
        (name,) = statement.names
        default = next((param.default for param in checked.core.params if param.name == name), None)
        declared = {entry.name: entry.span for entry in checked.core.settings} | {p.name: p.span for p in checked.core.params}
        written = statement.text.partition("←")[2].strip() if default is None else str(default)
        text = TextItem((name,), f"{name} ← {written}", frozenset(), layout.typed_span(declared[name]))
        latest = {known: item for known, item in state.latest.items() if item.origin != text.origin}
        state = replace(state, latest=latest).with_items([text], state.types)
        if default is None:
            return replace(state, sizes={n: s for n, s in state.sizes.items() if n != name}, params=state.params - {name})
        return replace(state, sizes=state.sizes | {name: default}, params=state.params | {name})
    sizes = dict(state.sizes)
    for name, value in hidden.items():
        entry = next((entry for entry in checked.core.inputs if entry.name == name), None)
        if entry is None or not isinstance(value, Leaf):
            continue
        for size, length in zip(checked.core.types[entry.value].shape, value.array.shape, strict=True):
            variables = size.variables()
            if len(variables) == 1 and str(size) == next(iter(variables)).name:
                sizes[str(size)] = int(length)
    fresh = sorted(sizes.keys() - state.sizes.keys() - state.latest.keys())
    numbers = [TextItem((name,), f"{name} ← {sizes[name]}", frozenset(), Span("<repl>", 0, 0)) for name in fresh]
    return replace(state.with_items(numbers, state.types), sizes=sizes, params=state.params)


# ---------------------------------------------------------------------------------------------------- types of computed values
#
# The type of a computed value with a number for every size, as an `input` declares it.

_RANGED_KINDS = (Kind.I64,)


def concrete_leaf(name: str, array: Any, type: ArrayType, sizes: Mapping[SizeVariable, int], origin: int) -> Leaf:
    """A computed array as an item of the session; its type has numbers for sizes, and for bounds of elements that `sizes`
    contains."""
    shape = tuple(int(size) for size in array.shape)
    known = dict(sizes)
    for size, length in zip(type.shape, shape, strict=True):
        variables = size.variables()
        if len(variables) == 1 and str(size) == next(iter(variables)).name:
            known.setdefault(next(iter(variables)), length)
    if type.permutation and not origin:
        return Leaf(name, f"perm<{shape[0]}>", array, Kind.I64)
    kind = kind_of_dtype(array.dtype) or type.element.kind
    element = _element(type.element, kind, known, origin)
    return Leaf(name, f"{element}[{' '.join(map(str, shape))}]" if shape else element, array, kind)


def _element(element: Element, kind: Kind, sizes: Mapping[SizeVariable, int], origin: int) -> str:
    if element.index_bound is not None:
        top = _number(element.index_bound, sizes)
        if top is None:
            return str(kind.value)
        return f"idx<{top}>" if not origin else _range(origin, top - 1 + origin, kind)
    if element.unit is not None:
        return element.unit.value
    if kind is not Kind.I64:
        return str(kind.value)
    most = None if element.symbolic_max is None else _number(element.symbolic_max, sizes)
    high = element.high if most is None else most
    return str(kind.value) if element.low is None or high is None else _range(element.low, high, kind)


def _range(low: int, high: int, kind: Kind) -> str:
    return f"int<{low}..{high}>".replace("-", "¯") if kind in _RANGED_KINDS and low <= high else str(kind.value)


def _number(size: Size, sizes: Mapping[SizeVariable, int]) -> int | None:
    if size.constant is not None:
        return size.constant
    return size.evaluate(sizes) if all(variable in sizes for variable in size.variables()) else None
