"""Programs that are damaged, deep, long or large: a diagnostic or a result, never a traceback, 10 s or 1 GB.

The programs of the repository are mutated in characters and in tokens, and each mutant is run as `rho eval` would run it, many
in one process.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest
from share import seeds, share

ROOT = Path(__file__).parents[2]
WORKER = Path(__file__).parent / "programs_worker.py"
BATCHES, IN_A_BATCH = 100, 40
MOST_SECONDS, MOST_MEGABYTES = 10.0, 1000
WATCHDOG = 10 * MOST_SECONDS
BUG = 70  # the exit code of what Rho calls its own mistake
_PIECES = ("⍵", "⍺", "n", "0", "¯1", "9223372036854775807", "{", ")", "]", "'", "⍝", "\0", "é", "⍣", "∘.")
_TOKEN = re.compile(r"'[^'\n]*'|\w+|\s+|.", re.DOTALL)


@cache
def programs() -> list[str]:
    """Every program file, the cases of the conformance tests, and programs in pages."""
    found = [
        p.read_text(encoding="utf-8", errors="replace")
        for f in ("examples", "stdlib", "tests")
        for p in sorted((ROOT / f).rglob("*.rho"))
    ]
    for path in sorted((ROOT / "tests" / "conformance" / "cases").glob("*.txt")):
        lines = path.read_text(encoding="utf-8").split("\n")
        found += [line.split("⇐", 1)[1].strip() for line in lines if "⇐" in line]
    for path in sorted((ROOT / "docs").glob("*.md")):
        found += re.findall(r"```rho\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)
    return [text for text in found if text.strip()]


def mutant(rng: random.Random) -> str:
    """A program with one to four changes, of characters or of tokens."""
    text = rng.choice(programs())
    parts = list(text) if rng.random() < 0.5 else _TOKEN.findall(text)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(parts) + 1)
        match rng.randrange(7):
            case 0:
                del parts[at : at + rng.choice((1, 1, 1, 3))]
            case 1:
                parts[at:at] = parts[at : at + rng.choice((1, 2, 8))]
            case 2:
                parts.insert(at, rng.choice(_TOKEN.findall(rng.choice(programs()))))
            case 3 if len(parts) > 1:
                here, there = rng.sample(range(len(parts)), 2)
                parts[here], parts[there] = parts[there], parts[here]
            case 4 if at < len(parts):
                parts[at] = rng.choice(_PIECES)
            case 5:
                del parts[at:]
            case _:
                parts[at:at] = rng.choice(("⋄", "\n", "\r", "→", "←", ":", ".", "`", "e", "J", "_"))
        if not parts:
            break
    return "".join(parts)


def failures(texts: Sequence[str | tuple[list[str], str]]) -> list[str]:
    """What is wrong with how each program, or command in a folder, ended; a process that stalls is killed and what it was at is
    named."""
    given = "".join(json.dumps(text) + "\n" for text in texts)
    done = subprocess.Popen([sys.executable, str(WORKER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, encoding="utf-8")  # fmt: skip
    try:
        out, noise = done.communicate(given, timeout=WATCHDOG + 3 * len(texts))
    except subprocess.TimeoutExpired:
        done.kill()
        out, noise = done.communicate()
    ends = [json.loads(line) for line in out.split("\n") if line.endswith("]")]
    found = []
    for text, (code, shown, seconds, megabytes) in zip(texts, ends, strict=False):
        if code == "raised" or code == BUG or "Traceback" in shown or (code != 0 and not shown):
            found.append(f"{text!r} ended with {code}:\n{shown}")
        if seconds > MOST_SECONDS or megabytes > MOST_MEGABYTES:
            found.append(f"{str(text)[:2000]!r} took {seconds:.1f} s; {megabytes} MB at most by now")
    if len(ends) < len(texts):
        found.append(f"{str(texts[len(ends)])[:2000]!r} did not end: {noise[-1000:]}")
    return found


@pytest.mark.parametrize("batch", seeds(BATCHES))
def test_mutated_programs(batch: int) -> None:
    rng = random.Random(batch)
    assert failures([mutant(rng) for _ in range(IN_A_BATCH)]) == []


DEEP = 20_000
EXTREME = {
    **{f"{DEEP} times {piece}": piece * DEEP for piece in "({['-⍨⍵←⋄:.`⍝→∘"},
    "brackets in brackets": "(" * DEEP + "1" + ")" * DEEP,
    "functions in functions": "{" * 90 + "⍵" + "}" * 90 + " 1",
    "deep signature": "f : " + "(" * DEEP + "f64" + " ⋄ f64)" * DEEP + " → f64\nf ← {0}",
    "deep size": "input x : f64[" + "(" * DEEP + "n" + ")" * DEEP + "]",
    "long size": "f : f64[n] → f64[" + "n+" * DEEP + "n]\nf ← {⍵}",
    "long digits": "1" * 1_000_000,
    "long fraction": "0." + "1" * 900_000,
    "large exponent": "1e" + "9" * 100_000,
    "many digits in a size": f"input x : f64[{'9' * 100_000}]",
    "many digits in a bound": f"f : int<0..{'9' * 100_000}> → i64\nf ← {{⍵}}",
    "long name": "x" * 900_000 + " ← 1",
    "long line": "1 " * 400_000,
    "long text": "'" + "a" * 900_000 + "'",
    "many lines": "1\n" * 40_000,
    "many names": "\n".join(f"x{i} ← {i}" for i in range(20_000)),
    "too long": "1+" * 600_000 + "1",
    "a long chain": "1" + "+1" * 1_900,
    "a longer chain": "1" + "+1" * 50_000,
    "many tuples": "(1 ⋄ " * 90 + "2" + ")" * 90,
    "wide tuple": "(" + "1⋄" * 20_000 + "1)",
    "large vectors of sizes": "⍳⍳1000000",
    "larger vectors of sizes": "(⍳100000)⍴1",
    "many axes": "(100⍴1)⍴0",
    "a tower": "9*9*9*9*9*9",
    "doubling templates": "g0 ← {⍵+1}\n" + "\n".join(f"g{i + 1} ← {{g{i} g{i} ⍵}}" for i in range(40)) + "\ng40 1",
    "doubling joins": "x ← 1\n" + "x ← x,x\n" * 40 + "x",
    "doubling sizes": "input x : f64[n]\ny ← x\n" + "y ← ,y∘.×y\n" * 40,
    "many facts": "f : f64[n] → f64[m] → f64[n] where " + ", ".join(f"m≥n-{i}" for i in range(150)) + "\nf ← {⍺}",
}  # fmt: skip


@pytest.mark.parametrize("name", share(list(EXTREME), seed=21))
def test_extreme_programs(name: str) -> None:
    assert failures([EXTREME[name]]) == []
