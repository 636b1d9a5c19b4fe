"""`text.search` and `text.spans` beside Python's `re`: random patterns and texts, what is refused, sizes that are bounded."""

from __future__ import annotations

import json
import random
import re
from bisect import bisect_right
from pathlib import Path

import numpy as np
import pytest
from share import SEED, SHARE

import rho
from rho.lang.syntax.regular_expressions import MOST_STATES, Automaton, PatternError, automaton
from rho.shell.main import main

pytestmark = pytest.mark.long

ATOMS = ["a", "b", "c", ".", "[ab]", "[^a]", r"\d", r"\w", r"\s", r"\S", "1", " ", "[a-c1]", r"[^\w-]", r"\.", "é", r"\x41"]
COUNTS = ["*", "+", "?", "{2}", "{1,3}", "{,2}", "{2,}"]


def pattern(draw: random.Random, depth: int = 0) -> str:
    chance = draw.random()
    if depth > 3 or chance < 0.45:
        return draw.choice(ATOMS)
    if chance < 0.65:
        return pattern(draw, depth + 1) + pattern(draw, depth + 1)
    if chance < 0.78:
        return f"({pattern(draw, depth + 1)}|{pattern(draw, depth + 1)})"
    if chance < 0.93:
        return f"(?:{pattern(draw, depth + 1)}){draw.choice(COUNTS)}{draw.choice(['', '?'])}"
    return draw.choice(["^", "$", r"\b", r"\B", "|", "(?P<x>a)"])


def patterns(draw: random.Random, count: int) -> list[str]:
    """Patterns that Python reads too."""
    result = []
    while len(result) < count:
        text = draw.choice(["", "", "", "(?i)", "(?s)"]) + pattern(draw) + pattern(draw)
        try:
            python(text)
            automaton(text)
        except (re.error, PatternError):
            continue
        result.append(text)
    return result


def texts(draw: random.Random, count: int) -> list[str]:
    letters = "abc1 _.é-A\nB"
    return ["".join(draw.choice(letters) for _ in range(draw.randrange(9))).rstrip(" ") for _ in range(count)]


def python(text: str) -> re.Pattern[str]:
    return re.compile(text.replace("$", r"\Z"), re.ASCII)


def spans(text: str, item: str) -> list[tuple[int, int]]:
    return [match.span() for match in python(text).finditer(item)]


def by_definition(machine: Automaton, item: str) -> tuple[bool, list[tuple[int, int]]]:
    """What the automaton says of an item, by its documentation."""
    symbols = [bisect_right(machine.cuts, ord(character)) - 1 for character in item] + [len(machine.cuts)]
    state, best, ends = 0, [-1] * (1 + len(machine.members)), list[int]()
    for symbol in symbols:
        state = machine.states[state][symbol]
    for place, symbol in reversed(list(enumerate(symbols))):
        before = machine.kinds[symbols[place - 1]] if place else 0
        rows = machine.orders[3 * before + machine.kinds[symbol] if len(machine.orders) > 1 else 0]
        after = [-1, *(end if reads[symbol] else -1 for end, reads in zip(best[1:], machine.members, strict=True)), place]
        best = [next((after[position] for position in row if after[position] >= 0), -1) for row in rows]
        ends.insert(0, best[0])
    result, following = [], 0
    for begin, end in enumerate(ends):
        if end >= begin >= following:
            result.append((begin, end))
            following = max(end, begin + 1)
    return state == len(machine.states) - 1, result


def one_a_position(text: str, item: str) -> list[tuple[int, int]]:
    """The matches of Python, of which at most one begins at each position: the next search is behind a match of nothing."""
    result, at = [], 0
    while at <= len(item) and (match := python(text).search(item, at)):
        result.append(match.span())
        at = match.end() + (match.start() == match.end())
    return result


def test_automata_beside_python() -> None:
    draw = random.Random(SEED)
    for text in patterns(draw, round(3000 * SHARE)):
        machine = automaton(text)
        for item in texts(draw, 5):
            if r"\B" in text and not item:
                continue  # `\B` holds in an empty text by RE2 and by Python from 3.14 on
            found, places = by_definition(machine, item)
            assert found == bool(python(text).search(item)), (SEED, text, item)
            expected = spans(text, item)
            if all(begin < end for begin, end in places + expected):
                assert places == expected, (SEED, text, item)


def test_searches_beside_python(tmp_path: Path) -> None:
    draw = random.Random(SEED + 1)
    chosen = [text for text in patterns(draw, round(40 * SHARE)) if "\\B" not in text]
    chosen += [r"(\w+)@(\w+)\.(?:de|com)", r"^(?:a|ab)|b*?c$", r"ERR(?:OR)?:\s*\d{3}"]
    chosen += [r"\d??", r"(?:ab)??", r"a*", r"|a", r"b*?c?"]
    items = [*texts(draw, 40), "ab@c1.de", "", "ERROR: 123", "ERR:7", "abcabc", "abb c"]
    width = max(map(len, items))
    table = np.array([list(item.ljust(width)) for item in items])
    quoted = [text.replace("'", "''") for text in chosen]
    lines = [f"output s{k} ← t text.search '{text}'\noutput p{k} ← t text.spans '{text}'\n" for k, text in enumerate(quoted)]
    (tmp_path / "p.rho").write_text("use text\ninput t : char[n w]\n" + "".join(lines), encoding="utf-8")
    result = rho.load(tmp_path / "p.rho").run(t=table)
    for k, text in enumerate(chosen):
        assert list(result[f"s{k}"]) == [bool(python(text).search(item)) for item in items], (SEED, text)
        for item, row in zip(items, result[f"p{k}"], strict=True):
            matches = [(begin, int(end)) for begin, end in enumerate(row) if end >= 0]
            assert matches == one_a_position(text, item), (SEED, text, item)


@pytest.mark.parametrize(
    "text",
    ["(a", "a)", "a**", r"(\w)\1", "(?=a)", "(?!a)", "(?<=a)b", "[z-a]", "[", "a{3,1}", "\\", "(a*)*", "(a?|b)+", "a{999}",
     "(?m)a", r"\q", "[[:alpha:]]", "a*+", "(?P<n>a", "[a", "(?i",
     r"\x{110000}", r"\xg1", "*", "|*", "a{2}{3}", "(?P=n)", r"[\w-z]", "^*",
     "(" * 60 + ")" * 60, "(?:a|b){100}(?:a|c){100}d", "a{2000}"],
)  # fmt: skip
def test_what_is_no_pattern_is_refused_with_a_reason(text: str) -> None:
    quoted = text.replace("'", "''")
    with pytest.raises(rho.Rejected, match="E340") as caught:
        rho.eval(f"use text\n'abc' text.search '{quoted}'")
    assert "this pattern cannot be searched for: " in str(caught.value)


def test_states_are_limited_and_constant() -> None:
    """`.*a.{k}` has 2 to the power of k states: those that are too many are refused."""
    sizes = []
    with pytest.raises(PatternError, match=f"more than {MOST_STATES} states"):
        for count in range(20):
            sizes.append(len(automaton(f"a[ab]{{{count}}}c").states))
    assert max(sizes) <= MOST_STATES + 1 and len(sizes) > 8


def test_a_pattern_is_known_before_the_program_runs(tmp_path: Path) -> None:
    (tmp_path / "p.rho").write_text("use text\ninput p : char[n]\noutput r ← 'abc' text.search p\n", encoding="utf-8")
    with pytest.raises(rho.Rejected, match="a regular expression must be known before the program runs"):
        rho.load(tmp_path / "p.rho")
    assert rho.eval("use text ⋄ find ← {⍺ text.search ⍵} ⋄ (↑'ab' 'b' 'cd') find '^b'").tolist() == [0, 1, 0]
    assert rho.eval("use text ⋄ (0 3⍴' ') text.search 'a'").tolist() == []
    assert rho.eval("use text ⋄ (2 0⍴' ') text.spans '^$'").tolist() == [[0], [0]]


def test_a_param_is_a_pattern(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its default and each value that is set are compiled when the program is checked, in all ways of setting one."""
    path = tmp_path / "p.rho"
    text = """use text
param p ← 'a+'
param q `gets 'x'  ⍝ another, in names of glyphs
rows ← ↑'baa' 'b"' 'xx'
output r ← rows text.search p
output s ← ⌈/rows text.spans q
"""
    path.write_text(text, encoding="utf-8")
    program = rho.load(path)
    for values, r, s in (
        ({}, [1, 0, 0], [-1, -1, 2]), ({"p": '"'}, [0, 1, 0], [-1, -1, 2]), ({"p": "^b", "q": "b"}, [1, 1, 0], [1, 1, -1]),
        ({"p": np.array(["x", "x"])}, [0, 0, 1], [-1, -1, 2]), ({}, [1, 0, 0], [-1, -1, 2]), ({"p": ""}, [1, 1, 1], [-1, -1, 2]),
    ):  # fmt: skip
        result = program.run(**values)
        assert (result["r"].tolist(), result["s"].tolist()) == (r, s)
    with pytest.raises(rho.Rejected, match=r"E340(.|\n)*p\.rho:5"):
        program.run(p="(")
    with pytest.raises(rho.RhoError, match="has elements of type i64, not char"):
        program.run(p=3)
    assert main(["run", str(path), "--set", 'p="$', "--set", "q=b", "--out", f"r={tmp_path / 'r.json'}"]) == 0
    assert json.loads((tmp_path / "r.json").read_text())["data"] == [False, True, False]
    assert main(["plan", str(path), "--set", "p=x+", "--format", "json", "-o", str(tmp_path / "plan.json")]) == 0
    assert main(["run", "--plan", str(tmp_path / "plan.json"), "--out", f"r={tmp_path / 'r.json'}"]) == 0
    assert json.loads((tmp_path / "r.json").read_text())["data"] == [False, False, True]
    capsys.readouterr()
    assert main(["run", str(path), "--set", "p=("]) == 3
    assert "E340" in capsys.readouterr().err
