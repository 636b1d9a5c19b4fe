"""The verifier: programs that are right, programs that break each rule, and what it can and cannot prove."""

from __future__ import annotations

import pytest

from rho.backend.loopir.text import parse
from rho.backend.loopir.verifier import MalformedProgram, ProblemStatus, problems, verify

from .fixtures import ALL


@pytest.mark.parametrize("name", ALL)
def test_programs_that_are_right(name: str) -> None:
    assert not problems(parse(ALL[name])), "\n".join(map(str, problems(parse(ALL[name]))))


PROVED = {
    "spaces": "output y: f64[n, n, n, n] for i in 0..n parallel { for j in 0..n parallel { "
    "for r in 0..n vector { for s in 0..n vector { y[i, j, r, s] = z } } } }",
    "lanes of any length": "output y: f64[n, n] for i in 0..n vector { for j in i..n serial { y[i, j] = z } }",
    "a triangle": "output y: f64[n, n] for i in 0..n parallel { for j in 0..i vector { y[i, j] = z } }",
    "its mirror image": "output y: f64[n, n] for i in 0..n parallel { for j in 0..i vector { y[j, i] = z } }",
    "both": "output y: f64[n, n] for i in 0..n parallel { for j in 0..i vector { y[j, i] = z y[i, j] = z } }",
    "tiles": "output y: f64[n] for t in 0..n step 4 parallel { for j in t..min(n, t + 4) vector { y[j] = z } }",
    "clipped": "output y: f64[n] for i in max(k, 0)..min(n, m) vector { y[i] = z }",
    "backwards": "output y: f64[n] for i in 0..n vector { y[n - 1 - i] = z }",
    "every other": "output y: f64[2*n] for i in 0..n vector { y[2*i] = z y[2*i + 1] = z }",
    "an edge of an entered loop": "output y: f64[n] for i in 0..n serial { y[n - 1] = z y[0] = z }",
    "a branch": "output y: f64[n] j = index k b: bool = lt:i64(k, n) c: bool = ge:i64(k, o) if b { if c { y[k] = z } }",
    "an else": "output y: f64[n] b: bool = ge:i64(k, n) c: bool = lt:i64(k, o) d: bool = or(b, c) if d { } else { y[k] = z }",
    "a check": "output y: f64[n] b: bool = ge:i64(k, n) c: bool = lt:i64(k, o) fail 1 if b fail 2 if c y[k] = z",
    "a mask": """output y: f64[n] for i in 0..m vector { a: bool = lt:i64(i, n) y[i] = z if a }""",
    "an equality": "output y: f64[n] e: bool = eq:i64(k, n) if e { for i in 0..k vector { y[i] = z } }",
    "an inequality": "output y: f64[n] for i in 0..n serial { e: bool = ne:i64(i, o) if e { y[i - 1] = z } }",
    "clamps": "output y: f64[n] e: bool = gt:i64(n, o) h = index n - 1 l: i64 = max(k, o) j: i64 = min(l, h) if e { y[j] = z }",
    "a rotation": """output y: f64[n] input x: f64[n] for i in 0..n vector { j = index i + 1 g = index i + 1 - n
        in: bool = lt:i64(j, n) r: i64 = select(in, j, g) v = x[r] y[i] = v }""",
    "bytes": "output y: f64[256] input x: u8[n] for i in 0..n serial { v = x[i] j: i64 = convert:u8(v) y[j] = z }",
    "a residue": "output y: f64[7] s: i64 = 7 r: i64 = residue(s, k) y[r] = z",
    "sums of indices": "output y: f64[n + 2] two: i64 = 2 for i in 0..n vector { j: i64 = add(i, two) y[j] = z }",
    "private scratch": """output y: f64[n] scratch t: f64[4] private for i in 0..n parallel { for j in 0..4 serial { t[j] = z }
        v = t[2] y[i] = v }""",
    "the same row": "output y: f64[n, 4] for i in 0..n parallel { for j in 1..4 serial { v = y[i, j - 1] y[i, j] = v } }",
    "two halves": """output y: f64[2*n] for i in 0..n vector { v = y[i] y[n + i] = v }""",
    "turns": """scratch t: f64[2, n] t0: i64 = 0 for q in 0..m serial carried (turn: i64 = t0 -> turn1 => last) {
        for i in 1..n vector { v = t[turn, i - 1] t[1 - turn, i] = v } turn1 = index 1 - turn }""",
    "a turn from memory": """scratch t: f64[2, n] output w: i64[] two: i64 = 2 w0 = w[] t0: i64 = residue(two, w0)
        for q in 0..m serial carried (turn: i64 = t0 -> turn1 => last) {
        for i in 1..n vector { v = t[turn, i - 1] t[1 - turn, i] = v } turn1 = index 1 - turn } w[] = last""",
    "odd and even": "output y: f64[2*n] for i in 0..n vector { v = y[2*n - 2*i - 1] y[2*i] = v }",
    "a scan": """output y: i64[n] for i in 0..n vector carried (s: i64 = k -> u => r by add) { u: i64 = add(s, i) y[i] = u }""",
    "joined": "output y: i64[1] for i in 0..n vector { y[0] = k by add y[0] = i by add }",
    "two floors": "output y: f64[n] for i in 0..n step 3 vector { y[i] = z b: bool = lt:i64(i, m) y[i] = z if b }",
}


@pytest.mark.parametrize("name", PROVED)
def test_what_is_proved(name: str) -> None:
    program = parse(f"program p(n, m, k) {{ {_views_first(PROVED[name])} }}")
    assert not problems(program), "\n".join(map(str, problems(program)))


UNPROVED = {
    "one too far": ("output y: f64[n] for i in 0..n serial { y[i + 1] = z }", "index 0 of y"),
    "one too early": ("output y: f64[n] for i in 0..n serial { y[i - 1] = z }", "index 0 of y"),
    "not entered": ("output y: f64[n] y[0] = z", "index 0 of y"),
    "another size": ("output y: f64[n] for i in 0..m serial { y[i] = z }", "index 0 of y"),
    "data": ("output y: f64[n] input x: i64[n] for i in 0..n serial { v = x[i] y[v] = z }", "index 0 of y"),
    "data that wraps": ("""output y: f64[n] input x: i64[n] for i in 0..n serial {
        v = x[i] w: i64 = add(v, one) c: bool = gt:i64(w, o) d: bool = lt:i64(v, n) e: bool = and(c, d)
        y[v] = z if e }""", "index 0 of y"),
    "the wrong arm": (
        "output y: f64[n] b: bool = lt:i64(k, n) c: bool = ge:i64(k, o) d: bool = or(b, c) if d { y[k] = z }", "index"
    ),
    "after a branch": (
        "output y: f64[n] b: bool = lt:i64(k, n) if b { } c: bool = lt:i64(k, o) fail 1 if c y[k] = z", "index 0 of y"
    ),
    "all on one": ("output y: f64[1] for i in 0..n vector { y[0] = z }", "another iteration"),
    "a neighbour": ("output y: f64[n + 1] for i in 0..n vector { v = y[i + 1] y[i] = v }", "another iteration"),
    "overlapping tiles": ("output y: f64[n] for t in 0..n step 4 parallel { for j in t..min(n, t + 5) vector { y[j] = z } }",
                          "another iteration over t"),
    "both halves": ("output y: f64[n, n] for i in 0..n parallel { for j in 0..n vector { y[j, i] = z y[i, j] = z } }", "over i"),
    "scratch of all": ("output y: f64[n] scratch t: f64[4] for i in 0..n parallel { t[2] = z v = t[2] y[i] = v }", "over i"),
    "a box too long": ("output y: f64[n] call 1 () into (y[1:n])", "axis 0 of the box of y"),
    "a box of one too many": ("output y: f64[n] call 1 () into (y[n])", "axis 0 of the box of y"),
    "a box of all": ("output y: f64[n, n] for i in 0..n parallel { call 1 () into (y[0:n, i]) y[0, 0] = z }", "over i"),
    "one joined and one stored": ("output y: i64[1] for i in 0..n vector { y[0] = k by add y[0] = k }", "another iteration"),
    "joined in two ways": ("output y: i64[1] for i in 0..n vector { y[0] = k by add y[0] = k by max }", "another iteration"),
    "joined and read": (
        "output y: i64[1] output x: i64[n] for i in 0..n vector { y[0] = k by add v = y[0] x[i] = v }", "over i"
    ),
    "columns that meet": ("output y: f64[3*n] for i in 0..n vector { y[2*i] = z y[3*i] = z }", "another iteration"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNPROVED)
def test_what_is_not_proved(name: str) -> None:
    text, message = UNPROVED[name]
    program = parse(f"program p(n, m, k) {{ {_views_first(text)} }}")
    verify(program)
    found = problems(program)
    assert found and all(problem.standing is ProblemStatus.UNPROVED for problem in found)
    assert any(message in problem.message for problem in found), "\n".join(map(str, found))


def _views_first(text: str) -> str:
    """The text with `z`, `o` and `one` defined between its views and its statements."""
    words = text.split()
    views = 0
    while words[views] in ("output", "input", "scratch"):
        views += 3
        while not words[views - 1].endswith("]"):
            views += 1
        views += words[views] == "private"
    return " ".join([*words[:views], "z: f64 = 1.0 o: i64 = 0 one: i64 = 1", *words[views:]])


WRONG = {
    "twice": ("k: i64 = 1 k: i64 = 2", "defined twice"),
    "in two blocks": ("if b { k: i64 = 1 } else { k: i64 = 2 }", "defined twice"),
    "not yet": ("j = index k k: i64 = 1", "not defined"),
    "from inside": ("for i in 0..n serial { k: i64 = 1 } j = index k", "not defined"),
    "the index outside": ("for i in 0..n serial { } j = index i", "not defined"),
    "from an arm": ("if b { k: i64 = 1 } j = index k", "not defined"),
    "no index": ("f: f64 = 1.0 j = index f", "is f64, not i64"),
    "no truth": ("k: i64 = 1 if k { }", "is i64, not bool"),
    "no function": ("k: i64 = 1 j: i64 = frob(k)", "there is no frob"),
    "arity": ("k: i64 = 1 j: i64 = add(k)", "there is no add of 1"),
    "kinds of a function": ("k: i64 = 1 j: i64 = sqrt(k)", "there is no sqrt"),
    "result": ("k: i64 = 1 j: i64 = lt(k, k)", "does not give i64"),
    "operands": ("k: i64 = 1 j: f64 = add(k, k)", "is i64, not f64"),
    "select": ("k: i64 = 1 j: i64 = select(k, k, k)", "is i64, not bool"),
    "check missing": ("f: f64 = 1.0 j: i64 = floor:f64(f)", "has no check"),
    "check of nothing": ("f: f64 = 1.0 g: f64 = neg(f) check 3", "has a check"),
    "view": ("v = q[0]", "no view q"),
    "rank": ("v = x[0, 0]", "no view x of rank 2"),
    "input": ("f: f64 = 1.0 x[0] = f", "only read"),
    "value": ("k: i64 = 1 y[0] = k", "is i64, not f64"),
    "join": ("t: f64 = 1.0 y[0] = t by add", "add of f64 is not exact in any order"),
    "no join": ("t: f64 = 1.0 y[0] = t by frob", "frob of f64 is not exact"),
    "mask": ("k: i64 = 1 v = x[0] if k", "is i64, not bool"),
    "step": ("for i in 0..n step 0 serial { }", "positive step"),
    "no bound": ("for i in max()..n serial { }", "bounds on both sides"),
    "initial": ("for i in 0..n serial carried (s: f64 = t -> s => r) { }", "t is used"),
    "yielded": ("t: f64 = 1.0 for i in 0..n serial carried (s: f64 = t -> i => r) { }", "is i64, not f64"),
    "until": ("for i in 0..n serial until i { }", "is i64, not bool"),
    "vector until": ("for i in 0..n vector until b { }", "end early"),
    "parallel carries": ("t: f64 = 1.0 for i in 0..n parallel carried (s: f64 = t -> s => r) { }", "carries nothing"),
    "parallel in parallel": ("for i in 0..n parallel { for j in 0..n serial { for k in 0..n parallel { } } }", "directly"),
    "parallel in vector": ("for i in 0..n vector { for j in 0..n parallel { } }", "that carry nothing"),
    "a sum in vector": (
        "for i in 0..n vector { for j in 0..n vector carried (s: i64 = n -> u => r by add) { u: i64 = add(s, j) } }",
        "that carry nothing",
    ),
    "bounds of a lane": (
        "for i in 0..n vector carried (s: i64 = n -> u => r by add) { for j in 0..i serial { } u: i64 = add(s, i) }",
        "depend on the vector",
    ),
    "bounds of a lane's number": (
        "for i in 0..n vector carried (s: i64 = n -> u => r by add) { k = index i for j in 0..k serial { } u: i64 = add(s, i) }",
        "depend on the vector",
    ),
    "serial reduction": ("for i in 0..n serial carried (s: i64 = n -> u => r by add) { u: i64 = add(s, i) }", "reductions"),
    "float sum": ("t: f64 = 1.0 for i in 0..n vector carried (s: f64 = t -> u => r by add) { u: f64 = add(s, t) }", "exact"),
    "a sum of a few that may fail": (
        "t: f64 = 1.0 for i in 0..9 vector carried (s: f64 = t -> u => r by add) "
        "{ f: f64 = floor(t) check 1 u: f64 = add(s, f) }",
        "exact",
    ),
    "a sum of a few whose steps are used": (
        "t: f64 = 1.0 for i in 0..9 vector carried (s: f64 = t -> u => r by add) { u: f64 = add(s, t) y[i] = u }",
        "exact",
    ),
    "second argument": ("t: i64 = 1 for i in 0..n vector carried (s: i64 = t -> u => r by add) { u: i64 = add(i, s) }", "exact"),
    "used twice": ("for i in 0..n vector carried (s: i64 = n -> u => r by add) { u: i64 = add(s, i) j = index s }", "exact"),
    "record": ("fail 1 if b (n, n, n, n, n, n, n, n, n)", "at most 8"),
    "a call of no view": ("call 1 (q[0:n]) into ()", "no view q"),
    "a call that writes an input": ("call 1 () into (x[0:n])", "only read"),
    "a call of another rank": ("call 1 (x[0, 0:n]) into ()", "no view x of rank 2"),
    "a call in a vector loop": ("for i in 0..n vector { call 1 (x[i]) into () }", "no calls in a vector loop"),
    "complex": ("c: c128 = convert:bool(b)", "two registers"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong(name: str) -> None:
    text, message = WRONG[name]
    program = parse(f"program p(n) {{ input x: f64[n] output y: f64[n] b: bool = true {text} }}")
    with pytest.raises(MalformedProgram, match=message):
        verify(program)
    assert all(problem.standing is ProblemStatus.WRONG for problem in problems(program))
