"""The words of a linked call, from its draft.

Note [Sizes that a run finds].  What a mask selects has as many items as the run finds.  A plan with such sizes is drafted for
several values of each (`examples`), the drafts are compared, and each number in which they differ is a polynomial of the sizes
(`Varying`), exact for every example; drafts that differ otherwise make no call.  In the call sizes are numbers among the bases,
and what varies is worked out in front of the operation that needs it.

Neighbours: `drafting` (makes drafts), `linking`, `kernels.native_text` (what the words mean).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any, Final, TypeAlias

import numpy as np

from ....typechecker.sizes import SizeVariable
from ...kernels.native_text import Operation
from ..native import Native
from .drafting import OTHER, Draft, Refused, Row, Verdict

Monomial: TypeAlias = tuple[SizeVariable, ...]
"""Its factors, at most two."""
_HEAD: Final = 5
_LAUNCH_HEAD: Final = 7
_DURATION, _UNLOCKED, _RELOCATIONS = 4, 5, 6
_PADDING: Final = (0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Varying:
    """Terms (a coefficient and its factors), and a constant."""

    terms: tuple[tuple[int, Monomial], ...]
    constant: int


class Polynomials:
    """What numbers are for examples of sizes."""

    def __init__(self, examples: Sequence[Mapping[SizeVariable, int]]) -> None:
        self.examples = examples
        names = list(examples[0])
        linear: list[Monomial] = [(), *((name,) for name in names)]
        self.monomials = [*linear, *combinations_with_replacement(names, 2)]
        self.rows = [[self._value(m, example) for m in self.monomials] for example in examples]
        if np.linalg.matrix_rank(np.array(self.rows, np.float64)) < len(self.monomials):
            self.monomials = linear
            self.rows = [row[: len(linear)] for row in self.rows]
            if np.linalg.matrix_rank(np.array(self.rows, np.float64)) < len(linear):
                raise Refused(Verdict.NEVER)
        self.known: dict[tuple[int, ...], Varying] = {}

    @staticmethod
    def _value(monomial: Monomial, example: Mapping[SizeVariable, int]) -> int:
        value = 1
        for name in monomial:
            value *= example[name]
        return value

    def through(self, values: tuple[int, ...]) -> Varying:
        """The polynomial that has these values.  Refused: there is none of whole numbers."""
        found = self.known.get(values)
        if found is None:
            exact, *_ = np.linalg.lstsq(np.array(self.rows, np.float64), np.array(values, np.float64), rcond=None)
            whole = [round(value) for value in exact.tolist()]
            for row, value in zip(self.rows, values, strict=True):
                if sum(a * b for a, b in zip(whole, row, strict=True)) != value:
                    raise Refused(Verdict.NEVER)
            terms = tuple([(a, m) for a, m in zip(whole, self.monomials, strict=True) if a and m])
            found = self.known[values] = Varying(terms, whole[0])
        return found

    def together(self, parts: Sequence[Any]) -> Any:
        """One thing that is each of these for its example."""
        first = parts[0]
        if isinstance(first, bool) or not isinstance(first, int | tuple):
            return first
        if isinstance(first, tuple):
            if any(not isinstance(part, tuple) or len(part) != len(first) for part in parts):
                raise Refused(Verdict.NEVER)
            if all(part == first for part in parts[1:]):
                return first
            return tuple([self.together(row) for row in zip(*parts, strict=True)])
        return first if all(part == first for part in parts[1:]) else self.through(tuple(parts))


def merged(drafts: Sequence[Draft], examples: Sequence[Mapping[SizeVariable, int]]) -> list[Row]:
    """The steps of drafts for these sizes.  Refused: they are of different sorts."""
    polynomials = Polynomials(examples)
    rows = [draft.steps for draft in drafts]
    if any(len(row) != len(rows[0]) for row in rows):
        raise Refused(Verdict.NEVER)
    made: list[Row] = []
    for steps in zip(*rows, strict=True):
        if any(step[0] is not steps[0][0] for step in steps):
            raise Refused(Verdict.NEVER)
        if steps[0][0] is Operation.LAUNCH:
            words = _same_costs([step[1] for step in steps])
            made.append((Operation.LAUNCH, polynomials.together(words), steps[0][2]))
        else:
            made.append(polynomials.together(steps))
    return made


def _same_costs(launches: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    duration, unlocked = max(words[_DURATION] for words in launches), max(words[_UNLOCKED] for words in launches)
    return [(*words[:_DURATION], duration, unlocked, *words[_RELOCATIONS:]) for words in launches]


class Encoding:
    """The words of steps.  `sizes`: which base holds a size; `values`: how many bases the draft has."""

    def __init__(self, draft: Draft, steps: Sequence[Row], sizes: Mapping[SizeVariable, int]) -> None:
        self.draft, self.sizes = draft, sizes
        self.values, self.scratch, self.most = len(draft.bases) + 1, 0, 0
        self.zero = len(draft.bases)
        self.data: list[int] = []
        self.operations: list[int] = [Operation.SET, self.zero, 0]
        self.keep: list[object] = []
        self.labels: dict[int, int] = {}
        self.jumps: list[tuple[int, int]] = []
        for step in steps:
            self.scratch = 0
            self.step(step)

    def words(self) -> list[int]:
        checks = self.draft.checks
        begin = _HEAD + len(checks) + len(self.data)
        for place, label in self.jumps:
            self.operations[place] = begin + self.labels[label]
        head = [len(self.draft.arguments), self.values + self.most, id(OTHER), id(np.ndarray), begin]
        return [*head, *checks, *self.data, *self.operations, *_PADDING]

    def put(self, words: Sequence[int]) -> int:
        """The place of words of the data."""
        place = _HEAD + len(self.draft.checks) + len(self.data)
        self.data += words
        return place

    def id(self, thing: object) -> int:
        """The address of something that lives as long as the call."""
        self.keep.append(thing)
        return id(thing)

    def step(self, step: Row) -> None:
        kind, *fields = step
        match kind:
            case Operation.MAKE:
                number, dtype, shape = fields
                if _varies(shape):
                    self.operations += [Operation.MAKE_AT, number, self.id(dtype), len(shape), self.row(shape)]
                else:
                    self.operations += [Operation.MAKE, number, self.id(dtype), len(shape), self.put(shape)]
            case Operation.ROOM:
                number, maker, first, second = fields
                if isinstance(first, tuple) and _varies(first):
                    raise Refused(Verdict.NEVER)
                self.operations += [kind, number, self.id(maker), self.id(first), self.id(second)]
            case Operation.LAUNCH:
                self.operations += [kind, self.put(self.launch(fields[0]))]
            case Operation.SHOW:
                self.show(*fields)
            case Operation.GIVE_ALL:
                self.operations += [kind, len(fields), *fields]
            case Operation.CALL:
                number, function, operands = fields
                self.operations += [kind, number, self.id(function), len(operands), *operands]
            case Operation.CHECK if not isinstance(fields[0], Varying):
                pass  # every example is so, and nothing varies
            case Operation.CHECK:
                self.operations += [kind, self.base(fields[0])]
            case Operation.SET:
                number, value = fields
                if isinstance(value, Varying):
                    self.work_out(value, self.zero, number)
                else:
                    self.operations += [kind, number, value]
            case Operation.COMBINE:
                number, first, second, factor, ahead = fields
                if isinstance(ahead, Varying):
                    raise Refused(Verdict.NEVER)
                if isinstance(factor, Varying):
                    at = self.take()
                    self.operations += [Operation.PRODUCT, at, second, self.base(factor)]
                    second, factor = at, 1
                self.operations += [kind, number, first, second, factor, ahead]
            case Operation.SETTLED:
                pass
            case Operation.LABEL:
                self.labels[fields[0]] = len(self.operations)
            case Operation.JUMP:
                self.jumps.append((len(self.operations) + 1, fields[0]))
                self.operations += [kind, 0]
            case Operation.JUMP_ZERO:
                self.jumps.append((len(self.operations) + 2, fields[1]))
                self.operations += [kind, fields[0], 0]
            case _:
                if _varies(fields):
                    raise Refused(Verdict.NEVER)
                self.operations += [kind, *fields]

    # -------------------------------------------------------------------------------------- what varies

    def take(self, count: int = 1) -> int:
        """The first of so many bases that only this step needs."""
        first = self.values + self.scratch
        self.scratch += count
        self.most = max(self.most, self.scratch)
        return first

    def base(self, value: Any) -> int:
        """A base that holds a number."""
        at = self.take()
        self.store(value, at)
        return at

    def store(self, value: Any, at: int) -> None:
        if isinstance(value, Varying):
            self.work_out(value, self.zero, at)
        else:
            self.operations += [Operation.SET, at, value]

    def work_out(self, value: Varying, start: int, at: int) -> None:
        """A base that is another base and a polynomial."""
        ahead = value.constant
        for factor, monomial in value.terms:
            source = self.sizes[monomial[0]]
            if len(monomial) > 1:
                product = self.take()
                self.operations += [Operation.PRODUCT, product, source, self.sizes[monomial[1]]]
                source = product
            self.operations += [Operation.COMBINE, at, start, source, factor, ahead]
            start, ahead = at, 0

    def row(self, values: Sequence[Any]) -> int:
        """The first of bases that hold these numbers, one after the other."""
        first = self.take(len(values))
        for place, value in enumerate(values):
            self.store(value, first + place)
        return first

    def show(self, number: int, dtype: Any, shape: Any, strides: Any, ahead: Any, source: int) -> None:
        if not _varies((shape, strides, ahead)):
            place = self.put([*shape, *strides, ahead])
            self.operations += [Operation.SHOW, number, self.id(dtype), len(shape), place, source]
            return
        row, at = self.row([*shape, *strides]), self.take()
        self.address(source, ahead, at)
        self.operations += [Operation.SHOW_AT, number, self.id(dtype), len(shape), row, source, at]

    def address(self, base: int, ahead: Any, at: int) -> None:
        if isinstance(ahead, Varying):
            self.work_out(ahead, base, at)
        else:
            self.operations += [Operation.COMBINE, at, base, self.zero, 0, ahead]

    def launch(self, words: Sequence[Any]) -> list[int]:
        """The words of a launch, in which what varies comes from bases."""
        if not _varies(words):
            return list(words)
        if _varies(words[:_LAUNCH_HEAD]):
            raise Refused(Verdict.NEVER)
        count = words[_RELOCATIONS]
        blocks = list(words[_LAUNCH_HEAD + 3 * count :])
        relocations: list[int] = []
        for first in range(_LAUNCH_HEAD, _LAUNCH_HEAD + 3 * count, 3):
            place, number, ahead = words[first : first + 3]
            if _varies((place, number)):
                raise Refused(Verdict.NEVER)
            if isinstance(ahead, Varying):
                at = self.take()
                self.work_out(ahead, number, at)
                number, ahead = at, 0
            relocations += [place, number, ahead]
        held: dict[Varying, int] = {}
        for place, word in enumerate(blocks):
            if isinstance(word, Varying):
                if word not in held:
                    held[word] = self.base(word)
                relocations += [place, held[word], 0]
                blocks[place] = 0
        return [*words[:_RELOCATIONS], len(relocations) // 3, *relocations, *blocks]


def _varies(thing: Any) -> bool:
    return isinstance(thing, Varying) or (isinstance(thing, Sequence) and any(map(_varies, thing)))


def finished(made: Native, draft: Draft, steps: Sequence[Row], sizes: Mapping[SizeVariable, int]) -> Callable[..., Any]:
    """The Python function that takes these steps."""
    encoding = Encoding(draft, steps, sizes)
    words = np.array(encoding.words(), np.int64)
    made.ask_for_helpers(draft.helpers)
    return made.function(words, [*draft.keep, *encoding.keep])
