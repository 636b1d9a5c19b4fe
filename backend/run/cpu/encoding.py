"""The words of a linked call, from its draft.

Note [Sizes that a run finds].  What a mask selects has as many items as the run finds.  A plan with such sizes is drafted for
several values of each (`examples`), the drafts are compared, and each number in which they differ is a polynomial of the sizes
(`Varying`), exact for every example; drafts that differ otherwise make no call.  In the call sizes are numbers in slots,
and what varies is worked out in front of the operation that needs it.

Neighbours: `drafting` (makes drafts), `linking`, `native` (`call.c`: what the words mean).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations_with_replacement
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np

from ....typechecker.sizes import SizeVariable
from ..native import Native
from ..native.words import Operation
from ..pool import LEAST, room
from .drafting import OTHER, Draft, Refused, Row, Verdict

Monomial: TypeAlias = tuple[SizeVariable, ...]
"""Its factors, at most two."""
_HEAD: Final = 7
_LAUNCH_HEAD: Final = 7
_DURATION, _UNLOCKED, _RELOCATIONS = 4, 5, 6


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
    """The words of steps.  `sizes`: which slot holds a size; `image`: what all slots begin as."""

    def __init__(self, draft: Draft, steps: Sequence[Row], sizes: Mapping[SizeVariable, int]) -> None:
        self.draft, self.sizes = draft, sizes
        self.image = [0] * len(draft.bases)
        self.rows: dict[tuple[int, ...], int] = {}
        self.data: list[int] = []
        self.operations: list[int] = []
        self.keep: list[object] = []
        self.labels: dict[int, int] = {}
        self.branches: list[tuple[int, int]] = []
        self.zero = self.row([0])
        for step in steps:
            self.step(step)

    def words(self) -> list[int]:
        draft = self.draft
        given = len(draft.arguments)
        image = _HEAD + len(draft.checks) + len(self.data)
        begin = image + len(self.image) - given
        for place, label in self.branches:
            self.operations[place] = begin + self.labels[label]
        head = [given, len(draft.bases), len(self.image), id(OTHER), id(np.ndarray), image, begin]
        return [*head, *draft.checks, *self.data, *self.image[given:], *self.operations]

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
                self.make(*fields)
            case Operation.LAUNCH:
                self.operations += [kind, self.put(self.launch(fields[0]))]
            case Operation.VIEW:
                number, dtype, shape, strides, ahead, source = fields
                at = self.address(source, ahead)
                self.operations += [kind, number, self.id(dtype), len(shape), self.row([*shape, *strides]), source, at]
            case Operation.GIVE:
                self.operations += [kind, len(fields), *fields]
            case Operation.CALL:
                number, function, operands = fields
                self.operations += [kind, number, self.id(function), len(operands), *operands]
            case Operation.CHECK:
                if isinstance(fields[0], Varying):  # else every example is so
                    self.operations += [kind, self.number(fields[0])]
            case Operation.SET:
                self.store(fields[1], fields[0])
            case Operation.COMPUTE:
                number, first, second, factor, ahead = fields
                if isinstance(ahead, Varying):
                    raise Refused(Verdict.NEVER)
                self.operations += [kind, number, first, second, self.number(factor), ahead]
            case Operation.SETTLED:
                pass
            case Operation.LABEL:
                self.labels[fields[0]] = len(self.operations)
            case Operation.JUMP:
                self.branch(self.zero, fields[0])
            case Operation.BRANCH:
                self.branch(*fields)
            case _:
                if _varies(fields):
                    raise Refused(Verdict.NEVER)
                self.operations += [kind, *fields]

    def make(self, number: int, dtype: np.dtype[Any], shape: tuple[Any, ...]) -> None:
        if not _varies(shape) and prod(shape) * dtype.itemsize >= LEAST:
            self.operations += [Operation.CALL, number, self.id(partial(room, shape, dtype)), 0]
        else:
            self.operations += [Operation.MAKE, number, self.id(dtype), len(shape), self.row(shape)]

    def branch(self, slot: int, label: int) -> None:
        self.branches.append((len(self.operations) + 2, label))
        self.operations += [Operation.BRANCH, slot, 0]

    # -------------------------------------------------------------------------------------- numbers

    def row(self, values: Sequence[Any]) -> int:
        """The first of slots that hold these numbers, one after the other."""
        known = None if _varies(values) else tuple(values)
        if known is not None and known in self.rows:
            return self.rows[known]
        first = len(self.image)
        self.image += [0 if isinstance(value, Varying) else value for value in values]
        if known is not None:
            self.rows[known] = first
        for place, value in enumerate(values):
            if isinstance(value, Varying):
                self.work_out(value, self.zero, first + place)
        return first

    def number(self, value: Any) -> int:
        """A slot that holds a number."""
        return self.row([value])

    def store(self, value: Any, at: int) -> None:
        if isinstance(value, Varying):
            self.work_out(value, self.zero, at)
        else:
            self.operations += [Operation.COMPUTE, at, *[self.zero] * 3, value]

    def work_out(self, value: Varying, start: int, at: int) -> None:
        """A slot that is another and a polynomial."""
        ahead = value.constant
        for factor, monomial in value.terms:
            source = self.sizes[monomial[0]]
            if len(monomial) > 1:
                product = len(self.image)
                self.image.append(0)
                self.operations += [Operation.COMPUTE, product, self.zero, source, self.sizes[monomial[1]], 0]
                source = product
            self.operations += [Operation.COMPUTE, at, start, source, self.number(factor), ahead]
            start, ahead = at, 0

    def address(self, source: int, ahead: Any) -> int:
        """A slot that holds an address so many bytes ahead of another's."""
        if not isinstance(ahead, Varying) and not ahead:
            return source
        at = len(self.image)
        self.image.append(0)
        if isinstance(ahead, Varying):
            self.work_out(ahead, source, at)
        else:
            self.operations += [Operation.COMPUTE, at, source, self.zero, self.zero, ahead]
        return at

    def launch(self, words: Sequence[Any]) -> list[int]:
        """The words of a launch, in which what varies comes from slots."""
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
            relocations += [place, self.address(number, ahead), 0] if isinstance(ahead, Varying) else [place, number, ahead]
        held: dict[Varying, int] = {}
        for place, word in enumerate(blocks):
            if isinstance(word, Varying):
                if word not in held:
                    held[word] = self.number(word)
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
