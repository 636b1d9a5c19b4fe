"""What a statement left in a builder, to be left there again for the next version of the program.

Neighbours: `builder`, `elaborate.replaying` (which says when it is the same).
"""

from __future__ import annotations

from typing import NamedTuple

from ..lang.source import PlacedSpan, Span
from .builder import Builder
from .core import ValueId
from .core_blocks import Op
from .types import ArrayType
from .value_facts import ValueFacts


class Emitted(NamedTuple):
    """Ops in the root block, and what is known and said of their values; `next` is the id after them."""

    next: int
    ops: tuple[Op, ...]
    types: dict[ValueId, ArrayType]
    spans: dict[ValueId, Span]
    facts: dict[ValueId, ValueFacts]
    definitions: dict[ValueId, Op]
    said: tuple[tuple[ValueId, str | Span], ...]


def counts(b: Builder) -> tuple[int, ...]:
    """Where a statement starts: what is reported, its first value and op, and what there is besides."""
    ledger, reports = b.ledger, b.reports
    more = (len(ledger.promises), len(ledger.input_sites), len(reports.warnings))
    return (len(reports.diagnostics), b.next_id, len(b.root), *ledger.mark(), *more, *b.sizes.counts())


def emitted_since(b: Builder, start: tuple[int, ...]) -> Emitted | None:
    """What a statement emitted; None if it did more: reported, required or named a size, or has spans that do not move."""
    said = tuple(b.wording.said)
    reported, first, ops, *more = start
    now = counts(b)
    if now[0] != reported or list(now[3:]) != more:
        return None
    values = [ValueId(value) for value in range(first, b.next_id)]
    spans = {value: b.spans[value] for value in values}
    facts = {value: b.facts[value] for value in values if value in b.facts}
    seen = [*spans.values(), *[word for _, word in said if isinstance(word, Span)]]
    seen += [known.selected for known in facts.values() if known.selected is not None]
    if not all(isinstance(span, PlacedSpan) for span in seen):
        return None
    types = {value: b.types[value] for value in values}
    definitions = {value: b.definitions[value] for value in values if value in b.definitions}
    return Emitted(b.next_id, tuple(b.root[ops:]), types, spans, facts, definitions, said)


def emit_again(b: Builder, done: Emitted) -> None:
    """The same values and ops, after the same ones before."""
    b.next_id = done.next
    b.root.extend(done.ops)
    b.types.update(done.types)
    b.spans.update(done.spans)
    b.facts.update(done.facts)
    b.definitions.update(done.definitions)
    for value, word in done.said:
        b.wording.add(value, word)
