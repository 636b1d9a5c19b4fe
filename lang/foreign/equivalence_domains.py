"""The domain of a rewrite: the arguments for which a Rho text equals another language's function in value and element type.

A domain has one condition for each argument, separated by `;`, and alternatives separated by `|`.  A condition is a list of
words: digits (the ranks allowed), letters (the element kinds: `b`ool, `i`64, `f`64, `c`haracters; others are `g` f32, `u` u8
and i32, `z` complex), `fits` (the arguments broadcast alike in both languages: equal ranks, or a scalar and an array), bounds of
every item (`≥2`, `≠0`, `≤9`), `exact` (integers that floats represent), `sure` (no item is NaN), `finite`, `sorted`, `never`
(no argument).  An empty condition allows any argument, known or not.

Example: `0 b ; 0 b | 0 i ; 0 i` allows two bool scalars or two integer scalars.
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
    """The known facts about a value: the lengths of its axes (None where unknown), its element kind (a letter), an inclusive
    range of its integers, and its items if they are constants."""

    lengths: tuple[int | None, ...]
    kind: str
    low: int | None = None
    high: int | None = None
    items: tuple[object, ...] | None = None

    @property
    def rank(self) -> int:
        return len(self.lengths)


FactQuery: TypeAlias = Callable[[str, Sequence[str]], Sequence[ArgumentFact | None]]
"""(program text, expressions) → the facts about their values after that text; None for an expression with an error."""


class TranslationContext:
    """The facts at one position of a program, and the remarks collected while translating an expression there.

    `before` is the text before that position.  `remarks` accompany a translation; `differences` say why there is none.
    `qualifies`: a spelling whose arguments are unknown is offered with a remark on its domain instead of being left out.
    `is_example`: what was returned is a usual spelling and no translation, so that it is no fix."""

    def __init__(self, query: FactQuery | None = None, before: str = "", *, qualifies: bool = False) -> None:
        self._query, self._before, self.qualifies = query, before, qualifies
        self.remarks: dict[str, None] = {}
        self.differences: dict[str, None] = {}
        self.is_example = False

    def with_item(self, name: str, items: str) -> TranslationContext:
        """The context of a function body in which a name stands for an item of an array; it shares the remarks."""
        (fact,) = self.facts([items])
        kind = {"b": "bool", "i": "i64", "f": "f64", "c": "char"}.get(fact.kind if fact is not None else "")
        before = f"{self._before}\ninput {name} : {kind}" if kind else ""
        inner = TranslationContext(self._query, before, qualifies=self.qualifies)
        inner.remarks, inner.differences = self.remarks, self.differences
        return inner

    def of_parameters(self) -> TranslationContext:
        """The context of a function body whose arguments are unknown; it shares the remarks."""
        inner = TranslationContext(qualifies=True)
        inner.remarks, inner.differences = self.remarks, self.differences
        return inner

    def facts(self, texts: Sequence[str]) -> list[ArgumentFact | None]:
        """The facts about Rho expressions; those about literals need no query."""
        literals = {text: literal_fact(text) for text in texts}
        unknown = [text for text in dict.fromkeys(texts) if literals[text] is None and not _ARGUMENT.search(_outside_dfns(text))]
        answers: dict[str, ArgumentFact | None] = {}
        if self._query is not None and unknown:
            answers = dict(zip(unknown, self._query(self._before, unknown), strict=True))
        return [literals[text] or answers.get(text) for text in texts]


_ARGUMENT: Final = re.compile("[⍵⍺…]|omega_|alpha_")
"""Texts without a value at this position: arguments of a dfn, and parts that the user has to write."""
_DFN: Final = re.compile(r"\{[^{}…]*\}")


def _outside_dfns(text: str) -> str:
    """The text without its dfns, whose arguments have values there."""
    while (shorter := _DFN.sub("", text)) != text:
        text = shorter
    return text


class RhoSpelling(str):
    """A text in Rho with the domain in which it is equivalent.

    `differs` says what differs outside the domain.  `result_kind` is the element kind of the other language's result: a letter,
    `=` for the common kind of the arguments, `?` for that of all but the first, `+` for the common kind with integers for truth
    values, empty if it is that of Rho's result. `alternatives` are spellings for other domains."""

    domain: str
    differs: str
    result_kind: str
    alternatives: tuple[RhoSpelling, ...]

    def __new__(
        cls, text: str, domain: str = "", gives: str = "", differs: str = "", others: Iterable[RhoSpelling] = ()
    ) -> RhoSpelling:  # fmt: skip
        spelling = super().__new__(cls, text)
        spelling.domain, spelling.result_kind, spelling.differs, spelling.alternatives = domain, gives, differs, tuple(others)
        return spelling


def spelling_for(text: str, facts: Sequence[ArgumentFact | None]) -> str | None:
    """The first spelling whose domain the arguments are known to be in; None if there is none."""
    candidates = (text, *text.alternatives) if isinstance(text, RhoSpelling) else (text,)
    return next((one for one in candidates if not isinstance(one, RhoSpelling) or holds(one.domain, facts)), None)


def without_ranks(text: str) -> str:
    """The spelling with the conditions on ranks removed from its domain, for a use along one axis."""
    if not isinstance(text, RhoSpelling):
        return text
    domain = " | ".join(
        " ".join(word for word in one.split() if not word.isdigit() and word != "fits") for one in text.domain.split("|")
    )
    domain = "" if any(not one.strip("; ") for one in domain.split("|")) else domain
    return RhoSpelling(text, domain, text.result_kind, text.differs)


def holds(domain: str, facts: Sequence[ArgumentFact | None]) -> bool:
    """Are these arguments known to be in a domain?"""
    return not domain or any(_conditions_hold(one, facts) for one in domain.split("|"))


def _conditions_hold(domain: str, facts: Sequence[ArgumentFact | None]) -> bool:
    return all(
        _condition_holds(word, fact, facts)
        for condition, fact in zip(domain.split(";"), facts, strict=False)
        for word in condition.split()
    )


def _condition_holds(word: str, fact: ArgumentFact | None, facts: Sequence[ArgumentFact | None]) -> bool:
    if word == "fits":
        ranks = {None if one is None else one.rank for one in facts} - {0}
        return len(ranks) <= 1 and (None not in ranks or len(facts) == 2)
    if fact is None:
        return False
    if word.isdigit():
        return str(fact.rank) in word
    low, high = _range(fact)
    match word:
        case "never":
            return False
        case "sure":
            return fact.kind in _WHOLE or (low is not None and high is not None)
        case "finite":
            return fact.kind in _WHOLE or (low is not None and high is not None and low > -math.inf and high < math.inf)
        case "exact":
            return fact.kind in "fgub" or (low is not None and high is not None and low >= -EXACT and high <= EXACT)
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


_WHOLE: Final = "biuc"
"""The kinds whose items are all finite."""
EXACT: Final = 2**53
"""Floats represent every integer up to this magnitude."""


def _range(fact: ArgumentFact) -> tuple[float | None, float | None]:
    """The least and the greatest item; None where it is unknown or not a number."""
    if fact.items is not None:
        numbers = _numbers(fact.items)
        if any(one != one for one in numbers):
            return None, None
        return min(numbers, default=math.inf), max(numbers, default=-math.inf)
    return (0, 1) if fact.kind == "b" else (fact.low, fact.high)


def _numbers(items: Sequence[object]) -> list[float]:
    return [one if isinstance(one, bool | int | float) else math.nan for one in items]


_LITERAL: Final = re.compile(r"¯?\d+(?:\.\d+)?(?:e¯?\d+)?(?: ¯?\d+(?:\.\d+)?(?:e¯?\d+)?)*")


def literal_fact(text: str) -> ArgumentFact | None:
    """The fact about a number or a strand of numbers; None for other text."""
    if _LITERAL.fullmatch(text) is None:
        return None
    words = text.replace("¯", "-").split()
    floats = any("." in word or "e" in word for word in words)
    items = tuple([float(word) if floats else int(word) for word in words])
    integers = [one for one in items if isinstance(one, int)]
    if any(abs(one) >= 2**63 for one in integers):
        return None
    lengths = (len(words),) if len(words) > 1 else ()
    return ArgumentFact(
        lengths, "f" if floats else "i", None if floats else min(integers), None if floats else max(integers), items
    )


_RANKS: Final = ("numbers", "vectors", "matrices", "arrays of rank 3")


def kinds_of(gives: str, facts: Sequence[ArgumentFact | None]) -> str | None:
    """The letter of the element kind of the other language's result; None if it depends on unknown facts."""
    if gives == "?":
        return kinds_of("=", facts[1:])
    kinds = {"" if one is None else one.kind for one in facts}
    if gives == "f" and "g" in kinds:
        return "g" if kinds <= {"g", "b"} else None  # numbers may be of a type of NumPy or of none
    if gives not in ("=", "+"):
        return gives or None
    if "" in kinds:
        return None
    joints = (joint for parts, joint in _JOINTS.items() if kinds <= set(parts))
    joint = next(iter(kinds)) if len(kinds) == 1 else next(joints, None)
    return "i" if joint in ("b", "u") and gives == "+" else joint


_JOINTS: Final = {"bi": "i", "bif": "f", "bg": "g", "bu": "u", "ui": "i", "bifz": "z"}
"""The kinds of results by those of their arguments; the first that has all applies."""
_CONVERSIONS: Final = {"f": "f64 ", "g": "f32 ", "i": "i64 ", "b": "0≠"}


def conversion_to(kind: str, actual: str) -> str | None:
    """The text left of a value of one kind that makes it one of another; None if there is none."""
    if kind == actual or {kind, actual} == {"i", "u"}:  # their items are equal, and so is what is computed from them here
        return ""
    return _CONVERSIONS.get(kind) if actual in "bifug" else None


KINDS: Final = {
    "b": "truth values", "i": "integers", "f": "floats", "c": "characters", "g": "f32", "u": "u8 or i32", "z": "complex numbers",
}  # fmt: skip


def describe_domain(domain: str) -> str:
    """A domain in words, for messages: `vectors of integers, with integers that are not 0`."""
    alternatives = {_arguments_in_words(one): None for one in domain.split("|")}
    alternatives.pop("", None)
    described = [one for one in alternatives if not any(other != one and other in one.split(" and ") for other in alternatives)]
    text = ", or ".join(described)
    if "fits" not in domain.split():
        return text
    return f"{text}, of equal ranks or a number beside an array" if text else "arrays of equal ranks, or a number beside an array"


def _arguments_in_words(domain: str) -> str:
    parts = [_condition_in_words(condition.split()) for condition in domain.split(";")]
    return " and ".join(dict.fromkeys(part for part in parts if part))


_CLASSES: Final = {"bif": "numbers", "if": "integers or floats", "bi": "integers or truth values"}


def _condition_in_words(words: Sequence[str]) -> str:
    ranks = [_RANKS[int(digit)] for word in words if word.isdigit() for digit in word]
    classes = [_CLASSES.get(word) for word in words if re.fullmatch("[bifc]+", word)]
    kinds = [KINDS[letter] for word in words if re.fullmatch("[bifc]+", word) for letter in word]
    bounds = [f"{'at least' if word[0] == '≥' else 'at most' if word[0] == '≤' else 'other than'} {word[1:]}"
              for word in words if word[0] in "≥≤≠"]  # fmt: skip
    bounds += ["within 2⁵³"] if "exact" in words else []
    bounds += ["of which none is NaN"] if "sure" in words else []
    bounds += ["finite"] if "finite" in words else []
    bounds += ["in ascending order"] if "sorted" in words else []
    subject = _listed(ranks) + (" of " if ranks and kinds else "") + (next(filter(None, classes), None) or _listed(kinds))
    if bounds:
        subject = f"{subject or 'items'} {' and '.join(bounds)}"
    return subject


def _listed(words: Sequence[str]) -> str:
    return ", ".join(words[:-1]) + (" and " if len(words) > 1 else "") + (words[-1] if words else "")
