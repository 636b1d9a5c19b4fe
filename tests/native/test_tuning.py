"""Bindings for all values of a size that a run finds: the words that they have are those of bindings for one value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rho
from rho.backend.jit import tiering
from rho.backend.vm import call_sites, encoder, specialization
from rho.backend.vm.call_sites import CallSite
from rho.backend.vm.runtime import native
from rho.backend.vm.specialization import MAX_TABLE_CELLS, Layouts, Sample, SizeFamily

pytestmark = pytest.mark.long

FEW, MOST = 40, 500
PROGRAMS = (
    "{+/(⍵>0.5)/⍵}",
    "{1+2×(⍵>0.5)/⍵}",
    "{s←(⍵>0.5)/⍵ ⋄ (+/s)÷≢s}",
    "{m←⍵>0.5 ⋄ (m/⍵)+.×m/⍵}",
    "{s←(⍵>0.5)/⍵ ⋄ s÷1+⌈/0,s}",
    "{+/⍸⍵>0.5}",
    "{3+⍵[⍸⍵>0.5]}",
    "{s←(⍵>0.5)/⍵ ⋄ +⌿s∘.×⍳3}",
    "{s←(⍵>0.5)/⍵ ⋄ ×/1+s×≢s}",
    "{+\\(⍵>0.5)/⍵}",
    "{+/(t<0.8)/t←(⍵>0.5)/⍵}",
    "{⌽(⍵>0.5)/⍵}",
    "{0,(⍵>0.5)/⍵}",
    "{s←(⍵>0.5)/⍵ ⋄ s[⍋s]}",
    "{⍋(⍵>0.5)/⍵}",
    "{s←(⍵>0.5)/⍵ ⋄ (1↓s)-¯1↓s}",
    "{s←(⍵>0.5)/⍵ ⋄ (4↓s)-¯4↓s}",
)

BY_PARTS = ("{s←(⍵>0.5)/⍵ ⋄ s∘.×⍳3}",)
"""Of few items by another kernel."""
MIXED = (
    "{s←(⍵>0.5)/⍵ ⋄ s÷1+⌈/0,s}", "{s←(⍵>0.5)/⍵ ⋄ +⌿s∘.×⍳3}", "{+/(t<0.8)/t←(⍵>0.5)/⍵}", "{0,(⍵>0.5)/⍵}",
    "{s←(⍵>0.5)/⍵ ⋄ ×/1+s×≢s}",
)  # fmt: skip
"""A phase of these has no items beside some, or counts what it selects of none: that is Python's."""
Words = list[int]


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    if native() is None:
        pytest.skip("no native code here")
    monkeypatch.setattr(tiering, "COMPILE_NANOSECONDS", 1.0)


def recorded(monkeypatch: pytest.MonkeyPatch) -> list[CallSite]:
    """The call sites that native code calls from now on."""
    asked: list[CallSite] = []
    call = CallSite.__call__
    monkeypatch.setattr(CallSite, "__call__", lambda site, *given: asked.append(site) or call(site, *given))
    return asked


def words_at(made: SizeFamily, layouts: Layouts, size: int) -> Words:
    """As `run.c` changes them."""
    words = list(made.words)
    for first in range(4, len(made.tuning), 4):
        place, table, base, factor = made.tuning[first : first + 4]
        number = base + factor * size
        if table:
            dtype, shape, strides = layouts.key(words[place])
            number = layouts.at(dtype, (number, *shape[1:]), strides)
        words[place] = number
    return words


def differing(example: Sample, words: Words, layouts: Layouts) -> list[int]:
    """Places where words are others than those of a binding for one value; rooms may be larger."""
    if len(words) != len(example.words):
        return [-1]
    found = []
    for place, (word, other) in enumerate(zip(words, example.words, strict=True)):
        if place in example.rooms:
            found += [place] * (layouts.key(word)[1] < layouts.key(other)[1])
        elif place not in example.free_words and word != other:
            found.append(place)
    return found


@pytest.mark.parametrize("text", PROGRAMS + BY_PARTS)
def test_every_size_of_a_range_has_its_own_words(text: str, at_once: None, monkeypatch: pytest.MonkeyPatch) -> None:
    ranges: list[tuple[int, int]] = []
    wrong: list[tuple[int, list[int]]] = []

    def judged(example: Any, layouts: Layouts, size: int, most: int) -> SizeFamily | None:
        made = specialization.fit_size_family(example, layouts, size, most)
        if made is not None:
            least, greatest = made.tuning[:2]
            ranges.append((least, greatest))
            for one in range(least, greatest + 1):
                bound = example(one)
                places = [-2] if bound is None else differing(bound, words_at(made, layouts, one), layouts)
                wrong.extend([(one, places)] * bool(places))
        return made

    monkeypatch.setattr(call_sites, "fit_size_family", judged)
    function, chance = rho.compile(text), np.random.default_rng(3)
    for _ in range(40):
        function(chance.random(MOST))
    assert ranges and max(most for _, most in ranges) >= MOST // 2
    assert not wrong


@pytest.mark.parametrize("text", PROGRAMS)
def test_other_counts_ask_nothing_of_python(text: str, at_once: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """And give the bits that NumPy gives."""
    programs: list[Any] = []
    encoded = encoder.encode
    monkeypatch.setattr(encoder, "encode", lambda *given: programs.append(encoded(*given)) or programs[-1])
    function, chance = rho.compile(text), np.random.default_rng(4)
    for _ in range(40):
        function(chance.random(MOST) * 0.9)
    asked = recorded(monkeypatch)
    given = [np.where(np.arange(MOST) < count, 0.75, 0.25) + chance.random(MOST) / 8 for count in range(FEW, MOST + 1)]
    results = [function(one) for one in given]
    assert programs and not asked
    monkeypatch.setattr(tiering, "mode", lambda: tiering.Mode.OFF)
    plain = rho.compile(text)
    for one, result in zip(given[::29], results[::29], strict=True):
        assert np.asarray(plain(one)).tobytes() == np.asarray(result).tobytes()


@pytest.mark.parametrize("text", PROGRAMS)
@pytest.mark.parametrize("few", [0, 1])
def test_few_items_beside_many(text: str, few: int, at_once: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is below the range has bindings of its own, also no items: Python is asked no more."""
    programs: list[Any] = []
    encoded = encoder.encode
    monkeypatch.setattr(encoder, "encode", lambda *given: programs.append(encoded(*given)) or programs[-1])
    function, many, small = rho.compile(text), np.linspace(0.6, 0.9, 100), np.zeros(100)
    small[:few] = 0.75
    for _ in range(20):
        function(many)
        np.asarray(function(small)).fill(3)  # the next result is another array
    asked = recorded(monkeypatch)
    results = [np.asarray(function(one)).tobytes() for one in (small, many, small)]
    assert programs and ((text in MIXED and not few) or not asked)
    monkeypatch.setattr(tiering, "mode", lambda: tiering.Mode.OFF)
    plain = rho.compile(text)
    assert results == [np.asarray(plain(one)).tobytes() for one in (small, many, small)]


# ---------------------------------------------------------------------------------------- what is no line


def examples(layouts: Layouts, word: Any) -> Any:
    """Bindings with one word, a function of the size, and one layout."""

    def example(size: int) -> Sample | None:
        made = word(size)
        layout = layouts.row_major((size, 3), np.dtype(np.float64))
        return None if made is None else Sample([made, layout], frozenset({1}), frozenset(), frozenset(), ())

    return example


def test_a_line_is_one_range() -> None:
    layouts = Layouts()
    made = specialization.fit_size_family(examples(layouts, lambda n: 7 - 3 * n), layouts, 40, 900)
    assert made is not None
    assert made.tuning[:4] == [2, 900, 900, 2]
    assert words_at(made, layouts, 11) == [7 - 33, layouts.row_major((11, 3), np.dtype(np.float64))]


@pytest.mark.parametrize(
    "word", [lambda n: n * n, lambda n: n // 2, lambda n: n % 2, lambda n: hash((n, 5)), lambda n: None if n % 5 else n]
)
def test_what_is_no_line_has_no_range(word: Any) -> None:
    layouts = Layouts()
    assert specialization.fit_size_family(examples(layouts, word), layouts, 45, 900) is None


def test_a_step_ends_the_range() -> None:
    layouts = Layouts()
    made = specialization.fit_size_family(examples(layouts, lambda n: n + 100 * (n > 512)), layouts, 500, 900)
    assert made is not None
    assert made.tuning[0] == 2 and 500 <= made.tuning[1] <= 512
    above = specialization.fit_size_family(examples(layouts, lambda n: n + 100 * (n > 512)), layouts, 600, 900)
    assert above is not None
    assert 512 < above.tuning[0] <= 600 and above.tuning[1] == 900


def test_lengths_end_where_their_table_does() -> None:
    layouts = Layouts()

    def example(size: int) -> Sample:
        return Sample([layouts.row_major((4 * size,), np.dtype(np.float64))], frozenset({0}), frozenset(), frozenset(), ())

    made = specialization.fit_size_family(example, layouts, 100, MAX_TABLE_CELLS)
    assert made is not None
    assert 100 < made.tuning[1] <= MAX_TABLE_CELLS // 4


def test_a_table_of_lengths_does_not_make_a_program_anew() -> None:
    layouts = Layouts()
    for count in range(3000):
        layouts.with_length((np.dtype(np.int64), (), (8,)), count)
    assert not layouts.is_full
    for count in range(3000):
        layouts.row_major((count, 2), np.dtype(np.int64))
    assert layouts.is_full
