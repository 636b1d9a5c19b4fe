"""A session: entries are checked, run and remembered one after the other; one that fails leaves no trace.

An entry is checked as a whole before anything of it runs; then its statements run one by one.  Values are kept as arrays of
concrete sizes, so nothing is computed twice and no size is symbolic; `entry_program` defines what stays text.  `ans` is the
value of the last bare expression.

The state is replaced only when an entry has succeeded, so an interrupt at any time leaves the session as it was.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Final

from ...backend.vm.values import kind_of_dtype
from ...lang.bind.statement_dependencies import Statement, StatementKind, statements_of, without_printing, words
from ...lang.diagnostics.model import Code, Diagnostic, Refused, RhoError
from ...lang.foreign import hints
from ...lang.support.records import dataclass
from ...lang.syntax.glyph_input import GlyphText, to_glyphs
from ...lang.syntax.reader import split_statements
from ...lang.syntax.source import Source, Span
from ...typechecker.check import Checker, show_value_type
from ...typechecker.core.arrays import CorePrint
from ...typechecker.elements import ArrayType, Element, Kind
from ...typechecker.sizes.polynomials import Size, SizeVariable
from ...typechecker.values.facts import Operand, TupleOperand, Value
from ..console.messages import exit_of
from ..console.process_exit import Exit
from ..display.values import line_count
from ..execution.outcome import DisplayedValue
from ..execution.run_request import RunRequest
from ..pipeline import Session
from ..pipeline_types import Checked, LoadedProgram, PlanDetail
from .entry_program import (
    ANSWER,
    EntryLayout,
    Item,
    Kept,
    Leaf,
    SessionEntry,
    SessionState,
    TextItem,
    ValueItem,
    ValueTree,
    before,
    leaves,
    put,
    with_sizes,
)

# ---------------------------------------------------------------------------------------------------- printed
#
# What a session remembers of the values that it printed: short texts, of long ones only how many lines they took.

MOST_ITEMS, MOST_CHARACTERS, MOST_LINES = 2_000, 4_000, 200
"""Of a printed value that is saved as it is; of a longer one its number of lines is."""


def remembered(shown: DisplayedValue) -> str | int:
    """What a session keeps of a value that was printed: its text, or how many lines it took."""
    if shown.kind is not Kind.CHAR and math.prod(shown.shape) > MOST_ITEMS:
        return line_count(shown.shape)
    text = shown.text()
    lines = text.count("\n") + 1
    return text if len(text) <= MOST_CHARACTERS and lines <= MOST_LINES else lines


# ---------------------------------------------------------------------------------------------------- workspace

_SOURCES: Final = 512


@dataclass(frozen=True, slots=True)
class Entered:
    """What an entry did: `printed` in order, messages about what was typed, notes of the session's own."""

    exit: Exit
    printed: tuple[DisplayedValue, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EvaluationRequest:
    """An expression checked in the session but not entered."""

    layout: EntryLayout
    checked: Checked
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, Source]


class _Stopped(Exception):
    """An entry fails."""

    def __init__(self, exit: Exit, diagnostics: Sequence[Diagnostic]) -> None:
        self.exit, self.diagnostics = exit, tuple(diagnostics)
        super().__init__()


@dataclass(slots=True)
class _EvaluationProgress:
    """An entry on its way: the state so far, what was printed."""

    state: SessionState
    glyphs: GlyphText
    printed: list[DisplayedValue] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class Workspace:
    """Not for several threads, except that `ask` with a checker of its own may be called beside `enter`."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.state = SessionState()
        self.sources: dict[str, Source] = {}
        self._checker = session.checker()

    # ------------------------------------------------------------------------------------- entering

    def enter(self, text: str, name: str | None = None) -> Entered:
        """Check and run statements; `name` is what messages call the text."""
        entered, self.state = self.evaluate(text, name)
        return entered

    def undo(self) -> str | None:
        """Take back the last entry; its text, None if there is none to be taken back."""
        if not self.state.earlier:
            return None
        *earlier, last = self.state.earlier
        text = self.state.log[-1].text
        self.state = replace(last, earlier=tuple(earlier))
        return text

    def abandon(self) -> None:
        """An `evaluate` in another thread was interrupted and may still be going on: share nothing with it."""
        self._checker = self.session.checker()

    def evaluate(self, text: str, name: str | None = None) -> tuple[Entered, SessionState]:
        """What entering would do, and the state afterwards; the session stays as it is."""
        source = Source(name or f"<entry {len(self.state.log) + 1}>", text)
        self._remember(source)
        glyphs = to_glyphs(source)
        try:
            checked, layout = self._check_whole(glyphs)
            warnings = tuple([d for d in map(layout.diagnostic, checked.diagnostics) if d.span.file == source.name])
            progress = _EvaluationProgress(self.state, glyphs)
            for statement in statements_of(text, self.state.kinds):
                self._step(progress, statement)
        except _Stopped as stopped:
            return Entered(stopped.exit, (), stopped.diagnostics), self.state
        printed = tuple(progress.printed)
        entry = SessionEntry(text.rstrip("\n"), tuple([remembered(shown) for shown in printed]))
        state = replace(progress.state, log=(*progress.state.log, entry)).following(self.state)
        return Entered(Exit.OK, printed, (*warnings, *hints.lint_foreign_syntax(source, warnings)), tuple(progress.notes)), state

    def _remember(self, source: Source) -> None:
        """Keep a text that messages may point into: the latest, and those that what lives was typed in."""
        if len(self.sources) > _SOURCES + 2 * len(self.state.latest):
            living = {item.origin.file for item in self.state.items}
            latest = list(self.sources)[-_SOURCES // 2 :]
            self.sources = {name: text for name, text in self.sources.items() if name in living or name in latest}
        self.sources[source.name] = source

    def _check_whole(self, glyphs: GlyphText) -> tuple[Checked, EntryLayout]:
        """All of an entry at once, so that nothing runs if something is wrong with it."""
        layout = self._layout(self.state, glyphs)
        checked = self.session.check(layout.source, self._checker)
        self.sources |= {name: source for name, source in checked.sources.items() if name != layout.source.name}
        if checked.core is None:
            refused = any(one.code == Code.E707 for one in checked.diagnostics)
            diagnostics = _about(checked.diagnostics, layout)
            raise _Stopped(Exit.REFUSED if refused else Exit.REJECTED, diagnostics)
        return checked, layout

    def _layout(self, state: SessionState, glyphs: GlyphText) -> EntryLayout:
        statements = statements_of(glyphs.text)
        origin = [s for s in statements if s.kind is StatementKind.ORIGIN]
        broken = any(piece.error is not None for piece in split_statements(glyphs)) or glyphs.diagnostics
        layout = before(state, words(glyphs.text), any(s.kind is StatementKind.INPUT for s in statements))
        if origin and state.latest:
            message = "`⎕IO` is set, to 0 or 1, before anything else of a session"
            raise _Stopped(Exit.REJECTED, [Diagnostic(Code.E018, message, glyphs.span(origin[0].start, origin[0].end))])
        if origin and not broken:
            layout = EntryLayout()
        if broken:
            layout.line(glyphs.text, Span(glyphs.file, 0, len(glyphs.text)), glyphs)
            for diagnostic in glyphs.diagnostics:
                raise _Stopped(Exit.REJECTED, [diagnostic])
        else:
            for statement in statements:
                put(layout, state, statement, glyphs)
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
        layout = before(state, words(statement.text), statement.kind is StatementKind.INPUT)
        put(layout, state, statement, glyphs)
        checked = self._accepted(layout)
        assert checked.result is not None
        elaborated = checked.result.elaborated
        values = {name: entry for name in statement.names if isinstance(entry := elaborated.names.get(name), (Operand,
            TupleOperand))}
        functions = [name for name in statement.names if name in elaborated.names and name not in values]
        answers = statement.kind is StatementKind.EXPRESSION and elaborated.last is not None and not statement.changes
        heavy = {name: value for name, value in values.items() if statement.kind is StatementKind.INPUT or not _known(value)}
        if answers and elaborated.last is not None:
            values[ANSWER] = elaborated.last
            if not _known(elaborated.last):
                heavy[ANSWER] = elaborated.last
        hidden: dict[str, Kept] = {}
        shown_types = {name: show_value_type(value) for name, value in values.items()}
        origin = glyphs.span(statement.start, statement.end)
        if heavy or answers or statement.prints or statement.kind is StatementKind.INPUT:
            hidden = self._run(progress, statement, layout, checked, heavy, answers)
        items: list[Item] = []
        light = [name for name in values if name not in hidden]
        if functions or light:
            items += _texts(statement, with_sizes(state, statement, glyphs), functions, light, values, origin, answers)
        items += [ValueItem(name, value, origin) for name, value in hidden.items()]
        types = state.types | shown_types | {name: checked.types.get(name, "function") for name in functions}
        types |= {name: _type_of(value) for name, value in hidden.items()}
        progress.state = _with_sizes(
            progress.state.entering(items, types), checked, layout, statement, hidden
        )

    def _accepted(self, layout: EntryLayout) -> Checked:
        checked = self.session.check(layout.source, self._checker)
        if checked.core is None:
            raise _Stopped(Exit.REJECTED, _about(checked.diagnostics, layout))
        return checked

    def _run(
        self, progress: _EvaluationProgress, statement: Statement, plain: EntryLayout, checked: Checked, heavy: Mapping[str,
        Value],
        answers: bool,
    ) -> dict[str, Kept]:  # fmt: skip
        """Run a statement; the values to keep.  What cannot be named (formatted text) is only shown."""
        state = progress.state
        layout = before(state, words(statement.text), statement.kind is StatementKind.INPUT)
        put(layout, state, statement, progress.glyphs, f"{ANSWER} ← {statement.text}" if answers else None)
        if answers and _prints(self.session.check(layout.source, self._checker)) < _prints(checked):
            layout.line(ANSWER, progress.glyphs.span(statement.start, statement.end))
        counter = state.counter
        hidden: dict[str, Kept] = {}
        for name, value in heavy.items():
            counter += 1
            hidden[name] = _hidden(value, f"∆∆{counter}")
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
            raise _Stopped(exit_of(error), _about(error.diagnostics, layout)) from None
        progress.printed += outcome.printed
        progress.state = replace(state, counter=counter)
        from ..execution.outcome import as_numpy

        arrays = {name: as_numpy(shown.value) for name, shown in outcome.outputs.items()}
        return {name: _filled(value, arrays, loaded, state.origin) for name, value in hidden.items()}

    # ------------------------------------------------------------------------------------- asking

    def ask(self, text: str, checker: Checker | None = None) -> EvaluationRequest:
        """Check a text in the session without entering it."""
        source = Source("<asked>", text)
        glyphs, sources = to_glyphs(source), self.sources | {source.name: source}
        try:
            layout = self._layout(self.state, glyphs)
        except _Stopped as stopped:
            return EvaluationRequest(EntryLayout(), Checked(source, None, stopped.diagnostics, {}), stopped.diagnostics, sources)
        checked = self.session.check(layout.source, checker or self._checker)
        return EvaluationRequest(layout, checked, tuple(_about(checked.diagnostics, layout)), sources)

    def describe(self, name: str) -> tuple[str, ...]:
        """A name with its type, a function with its signatures."""
        result = self.session.check(before(self.state, {name}).source, self._checker).result
        return () if result is None else result.describe(name)

    def _loaded(self, layout: EntryLayout, checked: Checked, detail: PlanDetail = PlanDetail.STEPS) -> LoadedProgram:
        """Bind the sizes and plan.  Refused: files, permissions, guards, memory."""
        assert checked.core is not None
        for entry in checked.core.data:
            if entry.path is None and entry.name not in layout.arrays:
                notes = ('in a session write the file too: input x : f64[n] ← "x.npy"',)
                raise Refused([Diagnostic(Code.E704, f"the input `{entry.name}` names no file", entry.span, notes=notes)])
        return self.session.load(checked, RunRequest(arrays=layout.arrays), detail)

    def prepare(self, asked: EvaluationRequest, detail: PlanDetail = PlanDetail.STEPS) -> LoadedProgram:
        """Bind and plan what was asked about.  RhoError where running would be refused."""
        try:
            return self._loaded(asked.layout, asked.checked, detail)
        except RhoError as error:
            raise type(error)(_about(error.diagnostics, asked.layout), asked.sources) from None

    def value(self, name: str) -> Any:
        """The array of a name; None if it is text or a tuple."""
        item = self.state.latest.get(name)
        return item.value.array if isinstance(item, ValueItem) and isinstance(item.value, Leaf) else None

    def forget(self, *names: str) -> None:
        """Take names away (of functions that mention them nothing changes)."""
        state = self.state
        latest = {name: item for name, item in state.latest.items() if name not in names}
        self.state = replace(state, latest=latest, types={n: t for n, t in state.types.items() if n not in names})


def _texts(
    statement: Statement, text: str, functions: Sequence[str], light: Sequence[str], values: Mapping[str, Value], origin: Span,
    answers: bool,
) -> Iterator[Item]:  # fmt: skip
    """What stays text: numbers as such, so that chains of `ans` do not grow."""
    literals = {name: literal for name in light if (literal := _literal(values[name])) is not None}
    rest = [name for name in light if name not in literals]
    text = text if functions else without_printing(text)
    if statement.kind is StatementKind.OUTPUT:
        text = text.removeprefix("output").strip()
    if answers:
        text = f"{ANSWER} ← {text}"
    if (functions or rest) and (statement.kind is not StatementKind.OUTPUT or "←" in text):
        yield TextItem((*functions, *rest), text, statement.needs, origin)
    for name, literal in literals.items():
        yield TextItem((name,), f"{name} ← {literal}", frozenset(), origin)


def _prints(checked: Checked) -> int:
    """How many values a program prints."""
    return 0 if checked.core is None else sum(isinstance(op, CorePrint) for op in checked.core.block.ops)


def _about(diagnostics: Sequence[Diagnostic], layout: EntryLayout) -> list[Diagnostic]:
    return [layout.diagnostic(one) for one in diagnostics]


def _known(value: Value) -> bool:
    """Does the checker know the value, or that it gives way to other types?  Then it stays text."""
    if isinstance(value, TupleOperand):
        return bool(value.items) and all(_known(item) for item in value.items)
    return value.static is not None or value.constant is not None or value.type.element.weak


def _literal(value: Value) -> str | None:
    """A scalar whole number that the checker knows."""
    if not isinstance(value, Operand) or value.type.rank or isinstance(value.static, tuple) or value.static is None:
        return None
    number = value.static.constant
    return None if number is None or not value.type.element.weak else str(number).replace("-", "¯")


def _hidden(value: Value, name: str) -> Kept:
    if isinstance(value, TupleOperand):
        return ValueTree(tuple([_hidden(item, f"{name}_{index}") for index, item in enumerate(value.items)]))
    return Leaf(name, "", None)


def _target(value: Kept) -> str:
    return value.name if isinstance(value, Leaf) else "(" + " ".join(_target(item) for item in value.items) + ")"


def _filled(value: Kept, arrays: Mapping[str, Any], loaded: LoadedProgram, origin: int) -> Kept:
    if isinstance(value, ValueTree):
        return ValueTree(tuple([_filled(item, arrays, loaded, origin) for item in value.items]))

    entry = next(entry for entry in loaded.core.outputs if entry.name == value.name)
    return concrete(value.name, arrays[value.name], loaded.core.types[entry.value], loaded.bound.sizes, origin)


def _type_of(value: Kept) -> str:
    if isinstance(value, Leaf):
        return value.type
    return "(" + " ⋄ ".join(_type_of(item) for item in value.items) + ")"


def _with_sizes(state: SessionState, checked: Checked, layout: EntryLayout, statement: Statement, hidden: Mapping[str,
    Kept]) -> SessionState:
    """The numbers of the sizes that an `input` or a `param` brings in."""
    if statement.kind not in (StatementKind.INPUT, StatementKind.PARAM) or checked.core is None:
        gone = set(statement.names)  # the name stands for a value now
        sizes = {name: size for name, size in state.sizes.items() if name not in gone}
        return replace(state, sizes=sizes, params=state.params - gone)
    if statement.kind is StatementKind.PARAM:
        (name,) = statement.names
        default = next((param.default for param in checked.core.params if param.name == name), None)
        declared = {entry.name: entry.span for entry in checked.core.settings} | {p.name: p.span for p in checked.core.params}
        written = statement.text.partition("←")[2].strip() if default is None else str(default)
        text = TextItem((name,), f"{name} ← {written}", frozenset(), layout.typed_span(declared[name]))
        latest = {known: item for known, item in state.latest.items() if item.origin != text.origin}
        state = replace(state, latest=latest).entering([text], state.types)
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
    return replace(state, sizes=sizes, params=state.params)


# ---------------------------------------------------------------------------------------------------- concrete
#
# The type of a computed value with every size a number, as an `input` declares it.

_WHOLE = (Kind.I64,)


def concrete(name: str, array: Any, type: ArrayType, sizes: Mapping[SizeVariable, int], origin: int) -> Leaf:
    """A value with the shape that it has, and what of its type's bounds is a number now."""
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
    if kind is not Kind.I64:
        return str(kind.value)
    most = None if element.symbolic_max is None else _number(element.symbolic_max, sizes)
    high = element.high if most is None else most
    return str(kind.value) if element.low is None or high is None else _range(element.low, high, kind)


def _range(low: int, high: int, kind: Kind) -> str:
    return f"int<{low}..{high}>".replace("-", "¯") if kind in _WHOLE and low <= high else str(kind.value)


def _number(size: Size, sizes: Mapping[SizeVariable, int]) -> int | None:
    if size.constant is not None:
        return size.constant
    return size.evaluate(sizes) if all(variable in sizes for variable in size.variables()) else None
