"""What the checker infers can be pasted back: every inferred signature of the test programs parses and means the same.

The signature is written above its definition; nothing is then reported there, and what is inferred is what was written.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from documents import programs_of
from share import SHARE, share

from rho.lang.syntax.source import Source
from rho.typechecker.check import CheckResult, check

ROOT = Path(__file__).parents[2]
WRITTEN = (
    "f ← {⍋(⍵>0)⌿⍵}",
    "f ← {(⍵>0)⌿⍵}",
    "f ← {((⍵>0)⌿⍵),(⍵<1)⌿⍵}",
    "f ← {(⍋(⍵>0)⌿⍵ ⋄ (⍵>0)⌿⍵)}",
    "f ← {⍵,⍵,1}",
    "f ← {,⍵∘.×⍵}",
    "f ← {(⌊(≢⍵)÷2)↑⍵}",
    "f ← {3↕⍵}",
    "f ← {⍺↕⍵}",
    "f ← {⍸⍵>0}",
    "f ← {⍳+/⍵>0}",
    "f ← {(_ 3)⍴⍵}",
    "f ← {1↓⍵,⍨⍺}",
    "f ← {⊃⍋⍵}",
    "f ← {(⍴⍵)⍴⌽,⍵}",
    "f ← {⍵⍳⍺}",
    "f ← {+⌿⍵}",
    "param k ← 3\nf ← {(k×≢⍵)⍴⍵}",
    "f ← {k←+/⍵>0 ⋄ k↑⍵}",
    "f ← {((≢⍵)-≢⍺)⍴0}",
    "f ← {(7|≢⍵)⍴0}",
)


def load(name: str, importer: str | None) -> Source | None:
    path = ROOT / "stdlib" / f"{name}.rho"
    return Source(str(path), path.read_text(encoding="utf-8")) if path.exists() else None


def _texts() -> Iterator[str]:
    """Programs of the repository: files, blocks of its pages, texts of the checker's own tests."""
    for folder in ("stdlib", "examples"):
        yield from (path.read_text(encoding="utf-8") for path in sorted((ROOT / folder).glob("*.rho")))
    for path in (*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md"):
        yield from re.findall(r"```(?:rho)?\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)
    for path in sorted(Path(__file__).parent.glob("*.md")):
        yield from (text.replace(" ⋄ ", "\n") if text.count("\n") == 0 else text for text in programs_of(path))
    for path in sorted(Path(__file__).parent.glob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and "← {" in node.value:
                yield node.value
    yield from WRITTEN


def _checked(text: str) -> CheckResult | None:
    result = check(Source("<test>", text), load_module=load)
    return None if any(d.is_error for d in result.diagnostics) else result


def _definition(text: str, name: str) -> tuple[str, str] | None:
    """What is before the definition of a name that is bound once (without a signature of its own), and the definition."""
    starts = [found.start() for found in re.finditer(rf"(?m)^{re.escape(name)}[ \t]*←", text)]
    if len(starts) != 1:
        return None
    head, rest = text[: starts[0]], text[starts[0] :]
    depth = 0
    for at, character in enumerate(rest):
        depth += (character in "{([") - (character in "})]")
        if character == "\n" and not depth:
            rest = rest[: at + 1]
            break
    return re.sub(rf"(?m)^{re.escape(name)}[ \t]*:.*(?:→.*)+\n(?=\s*\Z)", "", head), rest


@cache
def inferred() -> list[tuple[str, str, str, str]]:
    """(what is before the definition, the definition, its name, an inferred signature)"""
    found: dict[tuple[str, str, str, str], None] = {}
    for text in share(list(dict.fromkeys(_texts())), seed=14):
        result = _checked(text)
        for name, lines in ({} if result is None else result.signatures()).items():
            parts = _definition(text, name)
            sizes = set() if result is None or result.core is None else {
                v.name for entry in result.core.inputs for s in result.core.types[entry.value].shape for v in s.variables()
            }  # fmt: skip
            for line in lines if parts else ():
                if not sizes & set(re.findall(r"\w+", line)):  # a size of the program has no name in a signature
                    found[(*parts, name, line)] = None
    return list(found)


def test_there_are_many() -> None:
    assert len(inferred()) >= (150 if SHARE >= 1 else 1)


@pytest.mark.parametrize("at", range(10))
def test_an_inferred_signature_can_be_pasted_back(at: int) -> None:
    for head, definition, name, line in inferred()[at::10]:
        result = check(Source("<test>", f"{head}{line}\n{definition}"), load_module=load)
        errors = [f"{d.code} {d.message}" for d in result.diagnostics if d.is_error and d.span.start >= len(head)]
        assert errors == [], line
        assert result.signatures()[name] == (line,)


def test_what_masks_say_is_no_equation_of_the_arguments() -> None:
    text = "part : f64[n] → bool[n] → f64[n]\npart ← {(⍵⌿⍺),(~⍵)⌿⍺}"
    (line,) = check(Source("<test>", text)).signatures()["part"]
    assert line.startswith("part : 0..2 f64[n] → 2 bool[n] → ")
