"""Search by words: what holds most of them, in its name, in its names elsewhere, in its description, comes first.

Endings and words that mean the same (`elsewhere.SYNONYMS`) count too, a little less.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from ...lang.primitives import nearest
from .catalogue import Entry
from .elsewhere import SYNONYMS

_WORD: Final = re.compile(r"[^\W_]+|[^\w\s]", re.UNICODE)
_PLAIN: Final = frozenset(
    {"a", "an", "the", "of", "to", "in", "by", "for", "how", "do", "i", "is", "it", "with", "and", "on", "from", "at",
     "np", "jnp", "lax", "jax", "numpy", "each"}
)  # fmt: skip
NAME, ELSEWHERE, SAME_NAME, SAME_ELSEWHERE, PROSE, SAME_PROSE, START, OWN_NAME, TITLE = 12, 10, 7, 5, 3, 2, 3, 5, 4
COVERED = 30
ENOUGH: Final = 0.25
"""Of the best score: what has less is not shown."""


@dataclass(frozen=True, slots=True)
class Found:
    score: int
    entry: Entry


def search(words: Sequence[str], entries: Iterable[Entry]) -> list[Found]:
    """Best first; without those that hold fewer of the words than the best does."""
    wanted = _wanted(words)
    if not wanted:
        return []
    phrase = " ".join(words).lower()
    scored = [(covered, Found(score + _phrase(phrase, entry), entry)) for entry in entries
              for covered, score in [_score(wanted, phrase, entry)] if covered]  # fmt: skip
    most = max((covered for covered, _ in scored), default=0)
    best = max((one.score for covered, one in scored if covered == most), default=0) - most * COVERED
    found = [one for covered, one in scored if covered == most and one.score - most * COVERED >= best * ENOUGH]
    return sorted(found, key=lambda one: (-one.score, one.entry.origin, one.entry.name))


def nearest_word(words: Sequence[str], entries: Iterable[Entry]) -> str | None:
    """A word that is known, near one that is not."""
    known = sorted({word for entry in entries for word in _tokens(f"{entry.names} {entry.elsewhere}") if len(word) > 3})
    for word in words:
        guess = nearest(word.lower(), known) if len(word) > 3 else None
        if guess is not None and guess != word.lower():
            return guess
    return None


def _wanted(words: Sequence[str]) -> list[str]:
    found = [token for word in words for token in _tokens(word)]
    return [word for word in found if word not in _PLAIN] or found


def _score(wanted: Sequence[str], phrase: str, entry: Entry) -> tuple[int, int]:
    """How many of the words it holds, and how well."""
    names, elsewhere, prose = _stems(f"{entry.name} {entry.names}"), _stems(entry.elsewhere), _stems(entry.summary)
    if len(wanted) > 1 and entry.name.replace("x", "").replace("y", "") == phrase.replace(" ", ""):
        return len(wanted), NAME * 10
    covered, total = 0, TITLE * (entry.title.lower() in wanted)
    for word in wanted:
        stem = _stem(word)
        same = _SAME.get(stem, frozenset())
        score = (
            NAME if stem in names else ELSEWHERE if stem in elsewhere else SAME_NAME if same & names
            else SAME_ELSEWHERE if same & elsewhere else 0
        )  # fmt: skip
        score += OWN_NAME * (stem in {_stem(own[3:]) for own in entry.elsewhere.split() if own.startswith("np.")})
        score += PROSE if stem in prose else SAME_PROSE if same & prose else 0
        if not score and len(word) > 2:
            begun = any(one.startswith(stem) for one in (*names, *elsewhere))
            score = START if begun else int(any(one.startswith(stem) for one in prose))
        covered += score > 0
        total += score + COVERED * (score > 0)
    return covered, total


def _phrase(phrase: str, entry: Entry) -> int:
    """The words next to each other, as they were typed."""
    if entry.names.lower() == phrase or entry.title.lower() == phrase:
        return 25
    return 10 * (" " in phrase and phrase in f"{entry.names} · {entry.elsewhere} · {entry.summary}".lower())


def _tokens(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


@lru_cache(maxsize=4096)
def _stems(text: str) -> frozenset[str]:
    return frozenset(_stem(word) for word in _tokens(text))


def _stem(word: str) -> str:
    """A word without its ending: sorting, sorted and sorts are one."""
    for ending in ("ing", "ed", "es", "s", "e", "ly"):
        if word.endswith(ending) and len(word) - len(ending) > 2 and not word.endswith("ss"):
            return word[: -len(ending)]
    return word


def _same() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for group in SYNONYMS:
        stems = frozenset(_stem(word) for word in group)
        for stem in stems:
            found[stem] = found.get(stem, frozenset()) | (stems - {stem})
    return found


_SAME: Final = _same()
