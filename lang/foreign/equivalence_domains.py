"""The domain of a rewrite: for which arguments a Rho text equals another language's function in value and element type.

A domain is written as one condition for each argument, parted by `;`, and alternatives by `|`.  A condition is some words:
digits (the ranks that hold), letters (element kinds: `b`ool, `i`64, `f`64, `c`haracters), `fits` (the axes of both arguments
meet as elsewhere: equal ranks, or a number beside an array), bounds of every item (`≥2`, `≠0`, `≤9`), `exact` (integers that
floats hold), `sure` (no item is NaN), `finite`, `sorted`.  No word: any argument, known or not.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Final, TypeAlias

from ..support.records import dataclass


@dataclass(frozen=True, slots=True)
class ArgumentFact:
    """What is known of a value: the lengths of its axes (None where unknown), the kind of its elements (`b i f c`, another letter
    for other types), an inclusive range of integers, and its items where they are known."""

    lengths: tuple[int | None, ...]
    kind: str
    low: int | None = None
    high: int | None = None
    items: tuple[object, ...] | None = None

    @property
    def rank(self) -> int:
        return len(self.lengths)


Judge: TypeAlias = Callable[[str, Sequence[str]], Sequence[ArgumentFact | None]]
"""What is known of the values of Rho expressions after a text."""


class Known:
    """What is known at one place of a program, and what is to be said of what is written there.

    `qualifies`: a spelling whose arguments nobody can know yet is written with a word on its domain, not left out."""

    def __init__(self, judge: Judge | None = None, before: str = "", *, qualifies: bool = False) -> None:
        self._judge, self._before, self.qualifies = judge, before, qualifies
        self.said: dict[str, None] = {}
        self.differs: dict[str, None] = {}

    def with_item(self, name: str, items: str) -> Known:
        """The same where a name stands for each item of an array, its remarks shared."""
        (fact,) = self.facts([items])
        kind = {"b": "bool", "i": "i64", "f": "f64", "c": "char"}.get(fact.kind if fact is not None else "")
        inner = Known(self._judge, f"{self._before}\ninput {name} : {kind}" if kind else "", qualifies=self.qualifies)
        inner.said, inner.differs = self.said, self.differs
        return inner

    def of_parameters(self) -> Known:
        """The same in a function, whose arguments nobody knows yet."""
        inner = Known(qualifies=True)
        inner.said, inner.differs = self.said, self.differs
        return inner

    def facts(self, texts: Sequence[str]) -> list[ArgumentFact | None]:
        """The facts of Rho expressions; literals need nobody to ask."""
        literals = {text: literal(text) for text in texts}
        asked = [text for text in dict.fromkeys(texts) if literals[text] is None and not _ARGUMENT.search(text)]
        answers = dict(zip(asked, self._judge(self._before, asked), strict=True)) if self._judge is not None and asked else {}
        return [literals[text] or answers.get(text) for text in texts]


_ARGUMENT: Final = re.compile("[⍵⍺…]|omega_|alpha_")
"""What has no value beside its function, or none yet."""


class RhoSpelling(str):
    """A text in Rho with the domain in which it means the same, what differs outside it, and the kind that the other language's
    result has there: a letter, `=` the kind of the arguments together, `+` the same with integers for truth values, empty where
    it is that of the result.  `others` are spellings for other domains."""

    domain: str
    differs: str
    gives: str
    others: tuple[RhoSpelling, ...]

    def __new__(
        cls, text: str, domain: str = "", gives: str = "", differs: str = "", others: Iterable[RhoSpelling] = ()
    ) -> RhoSpelling:  # fmt: skip
        spelling = super().__new__(cls, text)
        spelling.domain, spelling.gives, spelling.differs, spelling.others = domain, gives, differs, tuple(others)
        return spelling


def spelling_for(text: str, facts: Sequence[ArgumentFact | None]) -> str | None:
    """The spelling that means the same for such arguments; None if none is sure to."""
    candidates = (text, *text.others) if isinstance(text, RhoSpelling) else (text,)
    return next((one for one in candidates if not isinstance(one, RhoSpelling) or holds(one.domain, facts)), None)


def without_ranks(text: str) -> str:
    """A spelling whose domain says nothing of axes: what it asks for along one of them."""
    if not isinstance(text, RhoSpelling):
        return text
    domain = " | ".join(
        " ".join(word for word in one.split() if not word.isdigit() and word != "fits") for one in text.domain.split("|")
    )
    return RhoSpelling(text, "" if any(not one.strip("; ") for one in domain.split("|")) else domain, text.gives, text.differs)


def holds(domain: str, facts: Sequence[ArgumentFact | None]) -> bool:
    """Are these arguments in a domain for certain?"""
    return not domain or any(_all_hold(one, facts) for one in domain.split("|"))


def _all_hold(domain: str, facts: Sequence[ArgumentFact | None]) -> bool:
    conditions = domain.split(";")
    return all(
        _holds(word, fact, facts) for condition, fact in zip(conditions, facts, strict=False) for word in condition.split()
    )


def _holds(word: str, fact: ArgumentFact | None, facts: Sequence[ArgumentFact | None]) -> bool:
    if word == "fits":
        ranks = {None if one is None else one.rank for one in facts} - {0}
        return len(ranks) <= 1 and (None not in ranks or len(facts) == 2)
    if fact is None:
        return False
    if word.isdigit():
        return str(fact.rank) in word
    low, high = _range(fact)
    match word:
        case "sure":
            return fact.kind != "f" or (low is not None and high is not None)
        case "finite":
            return fact.kind != "f" or (low is not None and high is not None and low > -math.inf and high < math.inf)
        case "exact":
            return fact.kind == "f" or (low is not None and high is not None and low >= -EXACT and high <= EXACT)
        case "sorted":
            return fact.items is not None and all(a <= b for a, b in pairwise(_numbers(fact.items)))
    bound = float(word[1:].replace("¯", "-")) if word[0] in "≥≤≠" else 0
    match word[0]:
        case "≥":
            return low is not None and low >= bound
        case "≤":
            return high is not None and high <= bound
        case "≠":
            return (low is not None and low > bound) or (high is not None and high < bound) or (
                fact.items is not None and all(one != bound for one in _numbers(fact.items))
            )  # fmt: skip
    return fact.kind in word


EXACT: Final = 2**53
"""The integers up to which floats hold each."""


def _range(fact: ArgumentFact) -> tuple[float | None, float | None]:
    """The least and the greatest item; None where that is not known, or not a number."""
    if fact.items is not None:
        numbers = _numbers(fact.items)
        if any(one != one for one in numbers):
            return None, None
        return min(numbers, default=math.inf), max(numbers, default=-math.inf)
    return (0, 1) if fact.kind == "b" else (fact.low, fact.high)


def _numbers(items: Sequence[object]) -> list[float]:
    return [one if isinstance(one, bool | int | float) else math.nan for one in items]


_LITERAL: Final = re.compile(r"¯?\d+(?:\.\d+)?(?:e¯?\d+)?(?: ¯?\d+(?:\.\d+)?(?:e¯?\d+)?)*")


def literal(text: str) -> ArgumentFact | None:
    """The fact of a number or of several side by side, which needs no checker."""
    if _LITERAL.fullmatch(text) is None:
        return None
    words = text.replace("¯", "-").split()
    floats = any("." in word or "e" in word for word in words)
    items = tuple([float(word) if floats else int(word) for word in words])
    integers = [one for one in items if isinstance(one, int)]
    if any(abs(one) >= 2**63 for one in integers):
        return None
    lengths = (len(words),) if len(words) > 1 else ()
    return ArgumentFact(lengths, "f" if floats else "i", None if floats else min(integers), None if floats else max(integers),
        items)


_RANKS: Final = ("numbers", "vectors", "matrices", "arrays of rank 3")


def kinds_of(gives: str, facts: Sequence[ArgumentFact | None]) -> str | None:
    """The letter of the kind of a result elsewhere; None if it depends on what is not known."""
    if gives not in ("=", "+"):
        return gives or None
    kinds = [None if one is None else one.kind for one in facts]
    if None in kinds:
        return None
    joint = next((letter for letter in "fib" if letter in kinds), None)
    return "i" if joint == "b" and gives == "+" else joint


KINDS: Final = {"b": "truth values", "i": "integers", "f": "floats", "c": "characters"}


def described(domain: str) -> str:
    """A domain in words: `vectors of integers, with integers that are not 0`."""
    alternatives = [_arguments_in_words(one) for one in domain.split("|")]
    return ", or ".join(dict.fromkeys(one for one in alternatives if one))


def _arguments_in_words(domain: str) -> str:
    parts = [_condition_in_words(condition.split()) for condition in domain.split(";")]
    return " and ".join(dict.fromkeys(part for part in parts if part))


def _condition_in_words(words: Sequence[str]) -> str:
    ranks = [_RANKS[int(digit)] for word in words if word.isdigit() for digit in word]
    kinds = [KINDS[letter] for word in words if re.fullmatch("[bifc]+", word) for letter in word]
    bounds = [f"{'at least' if word[0] == '≥' else 'at most' if word[0] == '≤' else 'other than'} {word[1:]}"
              for word in words if word[0] in "≥≤≠"]  # fmt: skip
    bounds += ["within 2⁵³"] if "exact" in words else []
    bounds += ["of which none is NaN"] if "sure" in words else []
    bounds += ["finite"] if "finite" in words else []
    bounds += ["in ascending order"] if "sorted" in words else []
    subject = _listed(ranks) + (" of " if ranks and kinds else "") + _listed(kinds)
    if bounds:
        subject = f"{subject or 'items'} {' and '.join(bounds)}"
    if "fits" in words:
        subject = f"{subject + ' ' if subject else ''}of equal ranks, or a number beside an array"
    return subject


def _listed(words: Sequence[str]) -> str:
    return ", ".join(words[:-1]) + (" and " if len(words) > 1 else "") + (words[-1] if words else "")
