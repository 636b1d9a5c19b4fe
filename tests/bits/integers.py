"""Programs on integers at the ends of every width, with their values worked out by Python's integers.

Nothing here asks Rho what is right: `Case.expected` comes from exact arithmetic, wrapped to the width of the result.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from share import drawing

from .exact import (
    ARITHMETIC,
    COMPARISONS,
    EDGES,
    LARGE,
    MONADIC,
    ORDER,
    TRUTHS,
    WIDTHS,
    array,
    edges,
    joint,
    quotient,
    residue,
    wrapped,
)


@dataclass(frozen=True)
class Case:
    """A program with its inputs and the values (dtype and nested integers) that it must give."""

    name: str
    program: str
    inputs: dict[str, np.ndarray]
    expected: tuple[np.ndarray, ...]


def cases() -> Iterator[Case]:
    """All of them, in a fixed order."""
    for part in (
        _monadic, _dyadic, _with_constants, _mixed_with_floats, _conversions, _reductions, _products, _radices, _searches,
        _indices, _wide_powers, _ranges, _literals, _floors,
    ):  # fmt: skip
        yield from part()


def _declare(**kinds: tuple[str, int]) -> str:
    return "\n".join(
        f"input {name} : {kind}{'' if not rank else '[' + ' '.join(f'{name}n{axis}' for axis in range(rank)) + ']'}"
        for name, (kind, rank) in kinds.items()
    )


def _vector(kind: str, name: str = "x") -> str:
    return _declare(**{name: (kind, 1)}) + "\n"


def _monadic() -> Iterator[Case]:
    for kind, (glyph, function) in itertools.product(ORDER, MONADIC.items()):
        items = edges(kind)
        result = "i64" if glyph in "⌊⌈" else joint(kind)
        if kind == "bool" and glyph in "×|⌊⌈":
            continue  # which of them keep truth values is a question of types
        made = [wrapped(function(x), result) for x in items]
        yield Case(f"{glyph} {kind}", f"{_vector(kind)}output r ← {glyph}x", {"x": array(kind, items)}, (array(result, made),))
    both = edges("bool")
    yield Case("~ bool", f"{_vector('bool')}output r ← ~x", {"x": array("bool", both)}, (array("bool", [not x for x in both]),))


def _pairs(left: str, right: str) -> tuple[list[int], list[int]]:
    xs, ys = zip(*itertools.product(edges(left), edges(right)), strict=True)
    return list(xs), list(ys)


def _dyadic() -> Iterator[Case]:
    for left, right in itertools.product(ORDER, repeat=2):
        xs, ys = _pairs(left, right)
        inputs = {"x": array(left, xs), "y": array(right, ys)}
        head = f"input x : {left}[n]\ninput y : {right}[n]\n"
        kind = joint(left, right)
        for glyph, function in ARITHMETIC.items():
            if left == right == "bool" and glyph in "∧∨":
                continue
            made = [wrapped(function(x, y), kind) for x, y in zip(xs, ys, strict=True)]
            yield Case(f"{left} {glyph} {right}", f"{head}output r ← x{glyph}y", inputs, (array(kind, made),))
        for glyph, compare in COMPARISONS.items():
            truths = [compare(x, y) for x, y in zip(xs, ys, strict=True)]
            yield Case(f"{left} {glyph} {right}", f"{head}output r ← x{glyph}y", inputs, (array("bool", truths),))
        divided = [quotient(x, y) for x, y in zip(xs, ys, strict=True)]
        yield Case(f"{left} ÷ {right}", f"{head}output r ← x÷y", inputs, (array("f64", divided),))
        if left == right == "bool":
            for glyph, both in TRUTHS.items():
                truths = [both(x, y) for x, y in zip(xs, ys, strict=True)]
                yield Case(f"bool {glyph} bool", f"{head}output r ← x{glyph}y", inputs, (array("bool", truths),))
        table = [[wrapped(x * y, kind) for y in edges(right)] for x in edges(left)]
        ends = {"x": array(left, edges(left)), "y": array(right, edges(right))}
        yield Case(f"{left} ∘.× {right}", f"{head.replace('[n]', '[m]', 1)}output r ← x∘.×y", ends, (array(kind, table),))


def _literal(number: int) -> str:
    return str(number).replace("-", "¯")


def _with_constants() -> Iterator[Case]:
    """A literal operand: kernels divide by constants in their own way, and ranges are tracked."""
    for kind, constant in itertools.product(("i32", "i64"), [*edges("i32"), 2**32, -(2**53) - 1, *LARGE]):
        low, high = WIDTHS[kind]
        if not low <= constant <= high:
            continue
        items = edges(kind)
        program, expected = [_vector(kind)], []
        for place, (glyph, function) in enumerate(ARITHMETIC.items()):
            program.append(f"output r{place} ← ({_literal(constant)}){glyph}x")
            expected.append(array(kind, [wrapped(function(constant, x), kind) for x in items]))
        for place, (glyph, compare) in enumerate(COMPARISONS.items()):
            program.append(f"output s{place} ← x{glyph}({_literal(constant)})")
            expected.append(array("bool", [compare(x, constant) for x in items]))
        yield Case(f"{kind} with {constant}", "\n".join(program), {"x": array(kind, items)}, tuple(expected))


def _mixed_with_floats() -> Iterator[Case]:
    """Comparisons are exact, whatever binary64 rounds."""
    floats = [float(n) + d for n in EDGES for d in (-1.0, -0.5, 0.0, 0.5)]
    floats += [math.nan, math.inf, -math.inf, -0.0, 2.0**64, -(2.0**64), 1e300, 5e-324]
    for kind in ORDER:
        xs, ys = zip(*itertools.product(edges(kind), floats), strict=True)
        head = f"input x : {kind}[n]\ninput y : f64[n]\n"
        inputs = {"x": array(kind, list(xs)), "y": array("f64", list(ys))}
        for glyph, compare in COMPARISONS.items():
            truths = [compare(x, y) for x, y in zip(xs, ys, strict=True)]
            yield Case(f"{kind} {glyph} f64", f"{head}output r ← x{glyph}y", inputs, (array("bool", truths),))
            truths = [compare(y, x) for x, y in zip(xs, ys, strict=True)]
            yield Case(f"f64 {glyph} {kind}", f"{head}output r ← y{glyph}x", inputs, (array("bool", truths),))


def _conversions() -> Iterator[Case]:
    for source, target in itertools.product(ORDER, repeat=2):
        low, high = WIDTHS[target]
        items = [n for n in edges(source) if low <= n <= high]
        program = f"{_vector(source)}output r ← {target} x"
        yield Case(f"{target} of {source}", program, {"x": array(source, items)}, (array(target, items),))
    for source in ORDER:
        items = edges(source)
        nearest = array("f64", [float(n) for n in items])
        single = np.array([_single(n) for n in items], np.float32)
        yield Case(f"floats of {source}", f"{_vector(source)}output r ← f64 x\noutput s ← f32 x", {"x": array(source, items)},
                   (nearest, single))  # fmt: skip
    whole = [float(n) for n in EDGES if -(2**63) <= n <= 2**63 - 1 and float(n) < 2.0**63]
    halves = [n + d for n in whole if abs(n) < 2.0**51 for d in (-0.5, 0.5)]
    items64 = array("i64", [int(n) for n in whole])
    yield Case("i64 of f64", "input x : f64[n]\noutput r ← i64 x", {"x": array("f64", whole)}, (items64,))
    for glyph, function in (("⌊", math.floor), ("⌈", math.ceil)):
        expected = array("i64", [function(n) for n in whole + halves])
        yield Case(f"{glyph} f64", f"input x : f64[n]\noutput r ← {glyph}x", {"x": array("f64", whole + halves)}, (expected,))


def _single(number: int) -> float:
    """The binary32 nearest to an integer, ties to even, by integers alone."""
    size = abs(number)
    shift = max(0, size.bit_length() - 24)
    low = size >> shift
    rest, half = size - (low << shift), (1 << shift) >> 1
    up = shift and (rest > half or (rest == half and low & 1))
    return math.copysign(float((low + bool(up)) << shift), number)


def _matrix(kind: str, rows: int, columns: int, seed: str) -> list[list[int]]:
    draw, numbers = random.Random(seed), edges(kind)
    return [[draw.choice(numbers) for _ in range(columns)] for _ in range(rows)]


def _from_the_right(row: Sequence[int], function: Callable[[int, int], int]) -> int:
    total = row[-1]
    for item in row[-2::-1]:
        total = function(item, total)
    return total


def _scan(row: Sequence[int], function: Callable[[int, int], int], is_associative: bool) -> list[int]:
    if is_associative:
        return list(itertools.accumulate(row, function))
    return [_from_the_right(row[: i + 1], function) for i in range(len(row))]


def _reductions() -> Iterator[Case]:
    table = {"+": ("+", None), "×": ("×", None), "⌊": ("⌊", None), "⌈": ("⌈", None), "-": ("-", None), "∨": ("∨", None)}
    for kind, glyph in itertools.product(ORDER, table):
        if kind == "bool" and glyph in "⌊⌈∨-":
            continue
        result = "i64" if glyph in "+×" else kind
        exact = ARITHMETIC[glyph]

        def step(x: int, y: int, exact: Callable[[int, int], int] = exact, result: str = result) -> int:
            return wrapped(exact(x, y), result)

        for rows, columns in ((5, 7), (3, 300), (40, 1), (130, 9)):
            data = _matrix(kind, rows, columns, f"{kind}{glyph}{rows}")
            inputs = {"x": array(kind, data)}
            down = [_from_the_right([row[j] for row in data], step) for j in range(columns)]
            across = [_from_the_right(row, step) for row in data]
            scans = [_scan(row, step, is_associative=glyph in "+×⌊⌈") for row in data]
            where = " where r≥1, c≥1" if glyph in "⌊⌈" else ""
            program = f"input x : {kind}[r c]{where}\noutput a ← {glyph}/x\noutput b ← {glyph}⌿x\noutput c ← {glyph}\\x"
            expected = (array(result, across), array(result, down), array(result, scans))
            yield Case(f"{glyph}/ {kind}[{rows} {columns}]", program, inputs, expected)
        if glyph in "+×":
            windows = [[_from_the_right(row[i : i + 3], step) for i in range(5)] for row in _matrix(kind, 4, 7, glyph)]
            yield Case(f"3 {glyph}/ {kind}", f"input x : {kind}[r 7]\noutput r ← 3 {glyph}/x",
                       {"x": array(kind, _matrix(kind, 4, 7, glyph))}, (array(result, windows),))  # fmt: skip
            keys = [3, 0, 1, 3, 3, 1, 0, 3, 1, 1]
            values = _matrix(kind, 1, 10, f"key{glyph}")[0]
            totals = [0 if glyph == "+" else 1] * 5
            for key, value in zip(keys, values, strict=True):
                totals[key] = step(totals[key], value)
            program = f"input k : idx<5>[n]\ninput x : {kind}[n]\noutput r ← 5 {glyph}⌸ (k ⋄ i64 x)"
            yield Case(f"{glyph}⌸ {kind}", program, {"k": array("i64", keys), "x": array(kind, values)}, (array("i64", totals),))


def _products() -> Iterator[Case]:
    for left, right in (("i64", "i64"), ("i32", "i32"), ("u8", "u8"), ("bool", "i64"), ("i32", "i64"), ("u8", "i32")):
        for rows, length, columns in ((3, 5, 2), (1, 40, 1), (20, 33, 18), (17, 0, 17), (64, 1, 64)):
            a, b = _matrix(left, rows, length, f"a{left}{rows}"), _matrix(right, length, columns, f"b{right}{rows}")
            made = [[wrapped(sum(a[i][k] * b[k][j] for k in range(length)), "i64") for j in range(columns)] for i in range(rows)]
            inputs = {"x": array(left, a).reshape(rows, length), "y": array(right, b).reshape(length, columns)}
            program = f"input x : {left}[r k]\ninput y : {right}[k c]\noutput r ← x+.×y"
            yield Case(f"{left} +.× {right} {rows}×{length}×{columns}", program, inputs,
                       (array("i64", made).reshape(rows, columns),))  # fmt: skip
    small = _matrix("i64", 6, 4, "ext"), _matrix("i64", 4, 5, "ext2")
    made = [[max(wrapped(small[0][i][k] + small[1][k][j], "i64") for k in range(4)) for j in range(5)] for i in range(6)]
    yield Case("⌈.+", "input x : i64[6 4]\ninput y : i64[4 5]\noutput r ← x⌈.+y",
               {"x": array("i64", small[0]), "y": array("i64", small[1])}, (array("i64", made),))  # fmt: skip


def _digits(bases: Sequence[int], number: int, kind: str) -> list[int]:
    made: list[int] = []
    for base in reversed(bases):
        made.insert(0, residue(base, number))
        number = wrapped(number // base, kind) if base else 0
    return made


def _radices() -> Iterator[Case]:
    bases: list[tuple[int, ...]] = [
        (10, 10), (2,) * 5, (2,) * 64, (0, 10), (10, 0), (0, 0), (24, 60, 60), (-10, 10), (10, -10), (-1, -1),
        (3, -7, 16), (256, 256), (0, 2**31, 2**31), (2**62, 3), (7, 2**62),
        (2**63 - 1, 2), (-(2**63), 2), (2, -(2**63)), (2**32, 2**32), (1, 1), (10,),
    ]  # fmt: skip
    for kind, base in itertools.product(("u8", "i32", "i64"), bases):
        low, high = WIDTHS[kind]
        if not all(low <= n <= high for n in base):
            continue
        items = edges(kind)
        columns = [_digits(base, n, kind) for n in items]
        made = [[column[place] for column in columns] for place in range(len(base))]
        head = f"input b : {kind}[p]\ninput x : {kind}[n]\n"
        inputs = {"b": array(kind, base), "x": array(kind, items)}
        program = f"{head}output r ← b⊤x\noutput s ← b⊥b⊤x"
        back = [wrapped(_horner(base, column), "i64") for column in columns]
        yield Case(f"⊤ {kind} radix {base}", program, inputs, (array(kind, made), array("i64", back)))
        written = " ".join(map(_literal, base))
        yield Case(f"⊤ {kind} radix literal {base}", f"{_vector(kind)}output r ← ({written})⊤x", {"x": inputs["x"]},
                   (array(kind, made if len(base) > 1 else made[0]),))  # fmt: skip
    for kind, length in itertools.product(ORDER, (1, 3, 9, 40)):
        data, radices = _matrix(kind, length, 6, f"digits{length}"), _matrix(kind, 1, length, f"radices{length}")[0]
        made = [wrapped(_horner(radices, [data[i][j] for i in range(length)]), "i64") for j in range(6)]
        ten = 1 if kind == "bool" else 10
        tens = [wrapped(_horner([ten] * length, [data[i][j] for i in range(length)]), "i64") for j in range(6)]
        program = f"input b : {kind}[p]\ninput x : {kind}[p 6]\noutput r ← b⊥x\noutput s ← {ten}⊥x"
        yield Case(f"⊥ {kind} radix {length}", program, {"b": array(kind, radices), "x": array(kind, data)},
                   (array("i64", made), array("i64", tens)))  # fmt: skip


def _horner(bases: Sequence[int], digits: Sequence[int]) -> int:
    total = 0
    for base, digit in zip(bases, digits, strict=True):
        total = total * base + digit
    return total


def _searches() -> Iterator[Case]:
    for kind in ORDER:
        items = [*edges(kind), *reversed(edges(kind))]
        up = sorted(range(len(items)), key=lambda i: items[i])
        down = sorted(range(len(items)), key=lambda i: -items[i])
        first = [items.index(x) == i for i, x in enumerate(items)]
        program = f"{_vector(kind)}output a ← ⍋x\noutput b ← ⍒x\noutput c ← ≠x\noutput d ← ∪x\noutput e ← x[⍋x]"
        expected = (
            array("i64", up), array("i64", down), array("bool", first), array(kind, list(dict.fromkeys(items))),
            array(kind, sorted(items)),
        )  # fmt: skip
        yield Case(f"orders {kind}", program, {"x": array(kind, items)}, expected)
    for left, right in itertools.product(("u8", "i32", "i64"), repeat=2):
        table, asked = edges(left)[::2], edges(right)
        program = f"input t : {left}[m]\ninput x : {right}[n]\noutput a ← t⍳x\noutput b ← x∊t\noutput c ← t⍸x"
        where = [table.index(x) if x in table else len(table) for x in asked]
        below = [sum(t <= x for t in table) - 1 for x in asked]
        expected = (array("i64", where), array("bool", [x in table for x in asked]), array("i64", below))
        yield Case(f"{left} ⍳ ∊ ⍸ {right}", program, {"t": array(left, table), "x": array(right, asked)}, expected)


def _indices() -> Iterator[Case]:
    """Rotations by any number."""
    for kind, length in itertools.product(("i32", "i64"), (1, 2, 7)):
        turns, row = edges(kind), list(range(length))
        made = [[row[(i + k) % length] for i in range(length)] for k in turns]
        program = f"input k : {kind}[n]\ninput x : i64[n m]\noutput r ← k⌽x\noutput s ← (⊃k)⊖⍉x"
        data = [row for _ in turns]
        turned = [[row[(i + turns[0]) % length]] * len(turns) for i in range(length)]
        yield Case(f"{kind} ⌽ {length}", program, {"k": array(kind, turns), "x": array("i64", data)},
                   (array("i64", made), array("i64", turned)))  # fmt: skip


def _wide_powers() -> Iterator[Case]:
    for kind, exponent in itertools.product(("u8", "i32", "i64"), (1, 2, 4, 5, 31, 63, 64, 65)):
        items = edges(kind)
        made = array(kind, [wrapped(x**exponent, kind) for x in items])
        yield Case(f"{kind} * {exponent}", f"{_vector(kind)}output r ← x*{exponent}", {"x": array(kind, items)}, (made,))


def _ranges() -> Iterator[Case]:
    """Operands between literals: the checker knows their ranges, and what a range may not promise is that nothing wraps."""
    ends = [n for n in EDGES if -(2**63) <= n < 2**63]
    for number in range(60):
        draw = drawing("ranges", number)
        (a, b), (c, d) = sorted(draw.sample(ends, 2)), sorted(draw.sample(ends, 2))
        xs = [min(max(x, a), b) for x in ends for _ in range(8)]
        ys = [min(max(y, c), d) for _ in ends for y in draw.sample(ends, 8)]
        program = ["input x : i64[n]", "input y : i64[n]"]
        program += [f"u ← ({_literal(a)})⌈({_literal(b)})⌊x", f"v ← ({_literal(c)})⌈({_literal(d)})⌊y"]
        expected = []
        for place, (glyph, function) in enumerate(ARITHMETIC.items()):
            made = [wrapped(function(x, y), "i64") for x, y in zip(xs, ys, strict=True)]
            bound = draw.choice(ends)
            program += [f"output r{place} ← u{glyph}v", f"output s{place} ← (u{glyph}v)≤{_literal(bound)}"]
            expected += [(f"r{place}", array("i64", made)), (f"s{place}", array("bool", [n <= bound for n in made]))]
        inputs = {"x": array("i64", [x for x in ends for _ in range(8)]), "y": array("i64", ys)}
        ordered = tuple([value for _, value in sorted(expected, key=lambda entry: entry[0])])
        yield Case(f"{a}..{b} and {c}..{d}", "\n".join(program), inputs, ordered)


def _literals() -> Iterator[Case]:
    """Both operands literals: the checker works them out.  Only results that fit, as others are errors of the program."""
    ends = [n for n in EDGES if -(2**63) <= n < 2**63]
    for number, (glyph, function) in itertools.product(range(6), [*ARITHMETIC.items(), *COMPARISONS.items()]):
        draw = drawing("literals", number, glyph)
        pairs = [(draw.choice(ends), draw.choice(ends)) for _ in range(12)]
        pairs = [(x, y) for x, y in pairs if -(2**63) <= function(x, y) < 2**63]
        is_bool = [glyph in COMPARISONS or (glyph in "∨∧" and {x, y} <= {0, 1}) for x, y in pairs]
        expected = [array("bool" if truth else "i64", function(x, y)) for (x, y), truth in zip(pairs, is_bool, strict=True)]
        program = [f"output r{place:02} ← ({_literal(x)}){glyph}({_literal(y)})" for place, (x, y) in enumerate(pairs)]
        yield Case(f"{glyph} literals {number}", "\n".join(program), {}, tuple(expected))


def _floors() -> Iterator[Case]:
    """`⌊x÷c`: the quotient is rounded to binary64 first, also where it is worked out in integers."""
    for kind, divisor in itertools.product(("u8", "i32", "i64"), (1, 2, 3, 7, 10, -1, -3, 255, 4096, 10**6, -(2**31), 2**62)):
        items = [n for n in edges(kind) if abs(n // divisor) < 2**62 and (kind != "u8" or 0 < divisor < 256)]
        if not WIDTHS[kind][0] <= divisor <= WIDTHS[kind][1]:
            continue
        program = f"{_vector(kind)}output a ← ⌊x÷{_literal(divisor)}\noutput b ← ⌈x÷{_literal(divisor)}"
        quotients = [quotient(n, divisor) for n in items]
        expected = (array("i64", [math.floor(q) for q in quotients]), array("i64", [math.ceil(q) for q in quotients]))
        yield Case(f"⌊ ⌈ {kind}÷{divisor}", program, {"x": array(kind, items)}, expected)
