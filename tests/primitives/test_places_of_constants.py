"""A constant means the same wherever it becomes known: in the text, a name, a function, a signature, a param, an input."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

import numpy as np
import pytest
from share import SEED, repeats, share

from rho.lang.primitives.table import PRIMITIVES
from rho.lang.syntax.source import NUMBER, SPACES

from .places import DYADIC, EDGES, MONADIC, Result, differences, everywhere, is_of_checking, number, result

DRAWN = 800
BY_WHAT_IS_KNOWN = ("*", "∧", "∨")
"""Powers of integers are integers where the exponent is known, and `∧ ∨` of known 0 and 1 are bool."""


def test_constants_mean_the_same_everywhere() -> None:
    drawn = random.Random(1_000_003 * SEED + 30)
    problems = []
    for _ in range(repeats(DRAWN)):
        a, b = drawn.choice(list(EDGES)), drawn.choice(list(EDGES))
        constants = {"a": (a, drawn.choice(EDGES[a].split()))}
        if drawn.random() < 0.35:
            function = drawn.choice(MONADIC)
            expression = f"{function}{{a}}"
        else:
            function = drawn.choice(DYADIC)
            b = a if drawn.random() < 0.6 else b
            constants["b"] = b, drawn.choice(EDGES[b].split())
            if function == "*" and {a, b} <= {"bool", "u8", "i32", "i64"}:
                continue  # an integer if the exponent is known, else a float
            expression = f"{{a}} {function} {{b}}"
        found = differences(everywhere(expression, constants), typed=function not in BY_WHAT_IS_KNOWN)
        problems += [f"{expression} of {constants}: {problem}" for problem in found]
    assert not problems, "\n".join([f"RHO_SEED={SEED}", *problems])


STRAND = re.compile(rf"'(?:[^'\n]|'')*+'|\"[^\"]*\"|⎕\w+|[^\W\d]\w*|(?P<numbers>{NUMBER}(?:{SPACES}+{NUMBER})*+)")


def strands() -> Iterator[tuple[str, int, int]]:
    """Every strand of numbers of every example of the documents."""
    for row in PRIMITIVES:
        uses = [use.examples for use in (row.monadic, row.dyadic) if use is not None]
        for text, _ in [example for examples in (row.examples, *uses) for example in examples if "⍝" not in example[0]]:
            yield from ((text, *match.span()) for match in STRAND.finditer(text) if match.group("numbers"))


@pytest.mark.parametrize(("text", "start", "end"), share(list(strands()), seed=6))
def test_examples_mean_the_same_everywhere(text: str, start: int, end: int) -> None:
    strand = text[start:end]
    values = np.array([number(item.replace("j", "J")) for item in strand.split()])
    array = values if len(values) > 1 else values.reshape(())
    kind = {"i": "i64", "f": "f64", "c": "c128"}[array.dtype.kind]
    moved = f"{text[:start]} q {text[end:]}"
    *before, last = moved.rstrip().split("\n")
    made: dict[str, Result] = {
        "input": result(f"input q : {kind}{list(array.shape) if array.ndim else ''}\n{moved}", {"q": array}),
        "inline": result(text),
        "local": result(f"q ← {strand}\n{moved}"),
        "param": result(f"param q ← {strand}\n{moved}"),
        "template": result("\n".join([*before, f"({{q←⍵ ⋄ {last}}}) {strand}"])),
    }
    sizes = made["input"][0] == "refused" and is_of_checking(made["input"][1])
    if sizes:
        made["input"] = made["inline"]
    assert not differences(made, typed=not any(glyph in text for glyph in BY_WHAT_IS_KNOWN), sizes=sizes), text
