"""What elaborating a statement did, to be done again for the next version of the program without elaborating it.

A `Done` stands for a statement that is still the same object, whose names still stand for the same sites: it means the same.
What it did may be done again where the builder is in the same state.  States have numbers: the one after a statement follows from
the one before and from what the statement means.  A definition that reads nothing around it does the same in every state.

Kept is only what leaves ops and values behind, or binds functions: a statement that reports, requires or names a size is
elaborated each time.  Neighbours: `programs` (asks before it elaborates), `sites`, `typechecker.emitted` (ops and values).
"""

from __future__ import annotations

from collections.abc import Sequence

from ...lang import program_tree, tree
from ...lang.definitions import Symbol
from ...lang.records import dataclass
from ...lang.source import PlacedSpan, Span
from ..core import ValueId
from ..emitted import Emitted, counts, emit_again, emitted_since
from ..operands import Operand, TupleOperand, Value
from .context import NODE_BUDGET, Context
from .environment import DfnFunction, Entry, Frame, PrimitiveFunction, SignedFunction
from .sites import Reach, Site, Sites

_REPLAYED = tree.Evaluate | tree.BindArray | tree.BindFunction | program_tree.StatedType
TYPES = program_tree.StatedType
_DEFINING = tree.BindFunction | program_tree.StatedType


@dataclass(frozen=True, slots=True, eq=False)
class Effect:
    """What a statement did: in which state (None: in any), the state after it, what it emitted, bound and mentioned, its value,
    the nodes it cost and after how many of them it printed."""

    state: int | None
    after: int
    emitted: Emitted | None
    entries: tuple[tuple[Symbol, Entry], ...]
    mentions: tuple[tuple[ValueId, tuple[tuple[Span, Span], ...]], ...]
    value: Value | None
    nodes: int
    printed: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Done:
    """A statement, the one name that it binds or states the type of, its site, the site of the signature before it, the sites of
    what it mentions, and those of what it bound; `free`: the state is after it what it was before, and does not matter to it."""

    statement: program_tree.Statement
    name: str | None
    site: Site
    declared: Site | None
    uses: tuple[tuple[Symbol, Site | None], ...]
    bound: dict[Symbol, Site]
    effect: Effect | None
    free: bool = False

    def means_the_same(self, sites: Sites) -> bool:
        """Do all its names stand for what they stood for?"""
        if self.name is not None and not self.states_type and sites.declared.get(self.name) is not self.declared:
            return False
        bound = sites.bound
        return all(bound.get(symbol) is site for symbol, site in self.uses)

    @property
    def states_type(self) -> bool:
        return isinstance(self.statement, TYPES)


class Recording:
    """Watches a statement while it is elaborated."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._counts, self._nodes, self._state = counts(ctx.builder), ctx.nodes, ctx.state
        self._mentions, ctx.mentions = ctx.mentions, {}
        ctx.builder.wording.said.clear()

    def close(self) -> None:
        """Mentions of this statement join those of the ones before."""
        self._new, self._ctx.mentions = self._ctx.mentions, self._mentions
        for value, places in self._new.items():
            self._mentions.setdefault(value, []).extend(places)

    def done(self, before: Done, entries: Sequence[tuple[Symbol, Entry]], bound: dict[Symbol, Site], value: Value | None) -> Done:
        """What is known now of a statement that has been elaborated."""
        defining = isinstance(before.statement, _DEFINING) and before.site.reach is Reach.NOTHING
        free = defining and counts(self._ctx.builder)[1:] == self._counts[1:]
        if not free:
            self._ctx.state = self._ctx.memory.key((self._state, before.site.key))
        effect = self._effect(before.statement, entries, value, free=free)
        return Done(before.statement, before.name, before.site, before.declared, before.uses, bound, effect, free)

    def _effect(
        self, statement: program_tree.Statement, entries: Sequence[tuple[Symbol, Entry]], value: Value | None, *, free: bool
    ) -> Effect | None:  # fmt: skip
        """What it did, if that can be done again."""
        ctx = self._ctx
        if not isinstance(statement, _REPLAYED) or not all(_is_made_in(statement, entry) for _, entry in entries):
            return None
        mentions = tuple([(v, tuple(places)) for v, places in self._new.items()])
        emitted = emitted_since(ctx.builder, self._counts)
        if emitted is None or not all(isinstance(s, PlacedSpan) for _, places in mentions for pair in places for s in pair):
            return None
        printed = ctx.printed_at - self._nodes if ctx.printed_at > self._nodes else None
        state, nodes = None if free else self._state, ctx.nodes - self._nodes
        return Effect(state, ctx.state, None if free else emitted, tuple(entries), mentions, value, nodes, printed)


def replay(ctx: Context, done: Done, frame: Frame, declared: dict[str, program_tree.StatedType]) -> bool:
    """Do it again; False where the statement has to be elaborated."""
    effect, sites, name, statement = done.effect, frame.file.sites, done.name, done.statement
    if effect is None or ctx.nodes + effect.nodes > NODE_BUDGET:
        return False
    if effect.state is not None:
        if effect.state != ctx.state:
            return False
        ctx.state = effect.after
        if effect.emitted is not None:
            emit_again(ctx.builder, effect.emitted)
        if effect.printed is not None:
            ctx.printed_at = ctx.nodes + effect.printed
        for value, places in effect.mentions:
            ctx.mentions.setdefault(value, []).extend(places)
    if isinstance(statement, TYPES):
        if statement.target.name in declared:
            return False
        declared[statement.target.name], sites.declared[statement.target.name] = statement, done.site
    elif name is not None and name in declared:
        del declared[name], sites.declared[name]
    for symbol, entry in effect.entries:
        frame.bind(symbol, _again(entry, frame))
    sites.bound.update(done.bound)
    ctx.nodes += effect.nodes
    return True


def _is_made_in(statement: program_tree.Statement, entry: Entry) -> bool:
    """May what a statement bound be bound again: is it a value, or a function that is written in the statement itself?"""
    match entry:
        case Operand() | TupleOperand() | PrimitiveFunction():
            return True
        case DfnFunction():
            return isinstance(statement, tree.BindFunction) and entry.node is statement.value
        case SignedFunction():
            return _is_made_in(statement, entry.body)
        case _:
            return False


def _again(entry: Entry, frame: Frame) -> Entry:
    """What a statement bound, with what it captures now."""
    match entry:
        case DfnFunction():
            return _closed(entry, frame)
        case SignedFunction():
            body = _closed(entry.body, frame) if isinstance(entry.body, DfnFunction) else entry.body
            return SignedFunction(entry.span, entry.name, entry.signature, body, frame.file, entry.proof)
        case _:
            return entry


def _closed(function: DfnFunction, frame: Frame) -> DfnFunction:
    return DfnFunction(function.span, function.node, frame.capture(function.node.captures), function.name)
