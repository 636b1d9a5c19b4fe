"""Elaboration end to end: programs, the types they get, and the values the reference interpreter gives their core."""

from __future__ import annotations

import pytest

from rho.backend.reference import interpret
from rho.backend.run.values import Array
from rho.lang.source import Source
from rho.typechecker.check import CheckResult, check
from rho.typechecker.elements import Kind


def checked(text: str) -> CheckResult:
    return check(Source("<test>", text))


def nested(value: Array) -> object:
    """Nested lists; text as str."""

    def level(data: tuple[object, ...], shape: tuple[int, ...]) -> object:
        if not shape:
            return data[0]
        if value.kind is Kind.CHAR and len(shape) == 1:
            return "".join(str(c) for c in data)
        if not shape[0]:
            return []
        step = len(data) // shape[0]
        return [level(data[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])]

    return level(value.data, value.shape)


def printed(text: str) -> list[object]:
    result = checked(text)
    assert result.core is not None, [f"{d.code}: {d.message}" for d in result.diagnostics]
    params = {p.name: p.default for p in result.core.params}
    return [nested(value) for value in interpret(result.core, {}, params).printed]


VALUES = [
    # statements
    ("1 2 3⋄4 5", [[1, 2, 3], [4, 5]]),
    ("x←3", []),
    ("⎕←x←3", [3]),
    ("a1←⎕←2×3 ⋄ a1", [6, 6]),
    ("x←⍳5 ⋄ x[2]←10 ⋄ x", [[0, 1, 10, 3, 4]]),
    ("x←⍳5 ⋄ x[1 2]+←10 ⋄ x", [[0, 11, 12, 3, 4]]),
    ("x←3 3⍴0 ⋄ x[1;]←1 2 3 ⋄ x[;0]←9.5 ⋄ x", [[[9.5, 0, 0], [9.5, 2, 3], [9.5, 0, 0]]]),
    ("x←5 6 ⋄ x,←7 ⋄ x", [[5, 6, 7]]),
    ("a←1 ⋄ f←{a+⍵} ⋄ a←10 ⋄ f 1", [2]),
    ("(a b)←(1 ⋄ 2 3) ⋄ b ⋄ a", [[2, 3], 1]),
    ("(a _ c)←7 8 9 ⋄ a+c", [16]),
    ("(d+4+e) (d←5+e) (e←8)", [[25, 13, 8]]),
    ("x[⍋x←3 1 2]", [[1, 2, 3]]),
    ("⎕IO←1\n⍳3", [[1, 2, 3]]),
    ("⎕IO←1\n(⍳3)[2]", [2]),
    ("param k←3 ⋄ k↑1 2 3 4 5", [[1, 2, 3]]),
    # literals
    ("b←8 ⋄ 2 b", [[2, 8]]),
    ("↑'ab' 'cde'", [["ab ", "cde"]]),
    ("[1 2 ⋄ 3 4]", [[[1, 2], [3, 4]]]),
    ("[1 2.5 ⋄ 3 4]", [[[1, 2.5], [3, 4]]]),
    ("y : f64[0 3] ← [] ⋄ ⍴y", [[0, 3]]),
    ("⍴3 _⍴⍳12", [[3, 4]]),
    ("(u8 200 100)+[1 ⋄ ¯1]", [[201, 99]]),
    # dfns and guards
    ("f←{⍺←2 ⋄ ⍺+⍵} ⋄ f 3 ⋄ 10 f 3", [5, 13]),
    ("f←{⍵<0:-⍵ ⋄ ⍵=0:100 ⋄ ⍵×2} ⋄ f¨¯3 0 4", [[3, 100, 8]]),
    ("f←{⍵>2:1 2 3 ⋄ 4 5} ⋄ f 3 ⋄ f +/1 0>0", [[1, 2, 3], [4, 5]]),
    ("{⎕←⍵ ⋄ ⍵+1}3", [3, 4]),
    ("{f←{⍵×2} ⋄ f f ⍵}3", [12]),
    # trains and composition
    ("(+/÷≢)1 2 3 4", [2.5]),
    ("(2×+)3", [6]),
    ("(-,÷)5", [[-5, 0.2]]),
    ("(⌽∘⍳3)", [[2, 1, 0]]),
    ("2-⍨5", [3]),
    ("10-∘÷4", [9.75]),
    ("2∘×5", [10]),
    ("(*∘2)5", [25]),
    ("¯3+⍥|¯4", [7]),
    ("2-⍛+5", [3]),
    ("-⍤×¯5", [1]),
    # reduce and scan
    ("-/1 2 3", [2]),
    ("+/⍬", [0]),
    ("+/2 0⍴1", [[0, 0]]),
    ("⍲/1 1 1", [1]),
    ("+/[0]2 3⍴⍳6", [[3, 5, 7]]),
    ("{⍺>⍵:⍺ ⋄ ⍵}/3 2⍴3 1 4 1 5 9", [[3, 4, 9]]),
    ("+.×⌿3 2 2⍴⍳12", [[[0, 45], [120, 231]]]),  # elements, as in APL
    (",/1 2 3", [[1, 2, 3]]),
    ("{⍺+2×⍵}\\1 2 3 4", [[1, 5, 11, 19]]),
    ("-\\1 2 3 4 5", [[1, -1, 2, -2, 3]]),
    ("≠\\1 0 1 1", [[1, 1, 0, 1]]),
    ("2+/1 2 3 4", [[3, 5, 7]]),
    ("¯2-/1 2 4 8", [[1, 2, 4]]),
    ("2+⌿3 2⍴⍳6", [[[2, 4], [6, 8]]]),
    ("{(a b)←⍵ ⋄ (c d)←⍺ ⋄ (a⌈c ⋄ b+d)}/(3 1 4 ⋄ 1 1 1)", [4, 3]),
    # rank and each
    ("+/⍤1 ⊢ 2 3⍴⍳6", [[3, 12]]),
    ("(2 3⍴⍳6)-⍤1 ⊢ 0 1 2", [[[0, 0, 0], [3, 3, 3]]]),
    ("1 2 3 -⍤0 1 ⊢ 10 20", [[[-9, -19], [-8, -18], [-7, -17]]]),
    ("(3 2⍴⍳6) (-⍤1⍤1 2) 2 2⍴1", [[[[-1, 0], [-1, 0]], [[1, 2], [1, 2]], [[3, 4], [3, 4]]]]),
    ("{⍵ ⍵}¨1 2", [[[1, 1], [2, 2]]]),
    ("⌽˘2 2⍴⍳4", [[[1, 0], [3, 2]]]),
    ("1 2,˘10 20", [[[1, 10], [2, 20]]]),
    ("≢¨(1 2 3 ⋄ 'ab')", [3, 2]),
    # table and inner product
    ("1 2∘.×1 2 3", [[[1, 2, 3], [2, 4, 6]]]),
    ("1 2∘.{⍺+10×⍵}3 4", [[[31, 41], [32, 42]]]),
    ("1 2∘.,3 4", [[[[1, 3], [1, 4]], [[2, 3], [2, 4]]]]),
    ("1 2 3+.×4 5 6", [32]),
    ("(2 3⍴⍳6)∧.=3 2⍴⍳6", [[[False, False], [False, False]]]),
    ("1 2 3{⍺+⍵}.×4 5 6", [32]),
    # power
    ("{⍵+0.5}⍣3 ⊢ 1", [2.5]),
    ("{⍵×2}⍣\\3 ⊢ 1", [[1, 2, 4, 8]]),
    ("2×⍣3 ⊢ 1", [8]),
    ("m←1 0 1 1>0 ⋄ {⍵+1}⍣(+/m) ⊢ 0", [3]),
    ("{(a b)←⍵ ⋄ (b ⋄ a+b)}⍣10 ⊢ (0 ⋄ 1)", [55, 89]),
    ("else←{(⍺⍺⍣⍺)(⍵⍵⍣(~⍺))⍵} ⋄ (3>2) {⍵+30} else {⍵-30} 28", [58]),
    ("{⍵÷2}⍣(20 ⋄ {1≥⍵}) ⊢ 100.0", [0.78125]),
    ("{⍵+1}⍣(20 ⋄ {⍵>5+⍺×0}) ⊢ 0", [6]),
    ("(⊂1 2)⌷5 6 7 8", [[6, 7]]),
    ("=/1J2 3", [0]), ("≠/1J2 1J2", [0]), ("=/1J2 1J2 1", [0]), ("=⌿[1J2 3 ⋄ 1J2 2]", [[1, 0]]),
    # at, key, stencil
    ("0@1 ⊢ 5 6 7", [[5, 0, 7]]),
    ("-@0 2 ⊢ 5 6 7", [[-5, 6, -7]]),
    ("0@(2∘<)⊢1 2 3 4", [[1, 2, 0, 0]]),
    ("10+@1 ⊢ 5 6 7", [[5, 16, 7]]),
    ("{⍵×10}@{⍵>2}⊢1 2 3 4", [[1, 2, 30, 40]]),
    ("3+⌸(0 2 0 ⋄ 1)", [[2, 0, 1]]),
    ("2⌈⌸(0 1 0 ⋄ 5 7 9)", [[9, 7]]),
    ("k←≢u←∪3 1 3 ⋄ k⌊⌸((⍳k),(¯1+k)⌊u⍳3 1 3 ⋄ (k⍴∞),5 7 2)", [[2, 7]]),
    ("({+/,⍵}⌺3)1 2 3 4", [[3, 6, 9, 7]]),
    ("({+/⍵}⌺2)1 2 3 4", [[3, 5, 7]]),
    # user operators
    ("op←{⍺⍺/⍵} ⋄ +op 1 2 3", [6]),
    ("twice←{⍺⍺ ⍺⍺ ⍵} ⋄ (2∘×)twice 5", [20]),
    ("add←{⍺⍺+⍵} ⋄ 6 add 9", [15]),
    # signatures
    ("f : f64[n] → f64\nf←{√+/⍵×⍵}\nf 3 4 ⋄ f 2 2⍴3 4 6 8", [5.0, [5.0, 10.0]]),
    ("r : T[m n] → T[n m] where T num\nr←{⍉⍵}\nr 2 3⍴⍳6", [[[0, 3], [1, 4], [2, 5]]]),
    # masks name their size
    ("x←3 1 2 ⋄ m←x>⌊1.5 ⋄ (m⌿x)+m⌿x", [[6, 4]]),
]


@pytest.mark.parametrize(("program", "expected"), VALUES, ids=[program for program, _ in VALUES])
def test_values(program: str, expected: list[object]) -> None:
    assert printed(program) == expected


INPUTS = """param w ← 2
input x : f64[n] ⋄ input x2 : f64[n] ⋄ input y : f64[m] ⋄ input A : f64[n m] ⋄ input C : f64[n m]
input B : f64[m p] ⋄ input s : f64 ⋄ input i : i64 ⋄ input W : f64[n n] ⋄ input X : f32[n m]
"""

TYPES = [
    ("x + x2", "f64[n]"),
    ("A + x", "f64[n m]"),
    ("s × A", "f64[n m]"),
    ("X × 2", "f32[n m]"),
    ("X × 2.5", "f32[n m]"),
    ("+⌿⍤1 ⊢ A", "f64[n]"),
    ("+⌿A", "f64[m]"),
    ("(+⌿x)÷≢x", "f64"),
    ("x ∘.× y", "f64[n m]"),
    ("A +.× B", "f64[n p]"),
    ("⍉A+C", "f64[m n]"),
    ("(x,y)+(y,x)", "f64[n+m]"),
    ("(1↓x)-¯1↓x", "f64[0⌈n-1]"),
    ("w↑x", "f64[w]"),
    ("x[⍋x]", "f64[n]"),
    ("x[⌽⍳≢x]", "f64[n]"),
    ("(x>0)⌿x", "f64[k≤n]"),
    ("z←(x>0)⌿x ⋄ z×z", "f64[k≤n]"),
    ("((x>0)⌿x),(x2>0)⌿x2", "f64[k+k2≤2×n]"),
    ("{W+.×⍵}⍣w ⊢ x", "f64[n]"),
    ("{W+.×⍵}⍣\\3 ⊢ x", "f64[4 n]"),
    ("{s>0:⍵+x2 ⋄ ⍵}x", "f64[n]"),
    ("{s>0:2↑⍵ ⋄ 3↑⍵}x", "f64[k≤3]"),
    ("⍳≢x", "idx<n>[n]"),
    ("⍋x", "perm<n>"),
    ("+/x>0", "int<0..n>"),
    ("{⍵×2}¨A", "f64[n m]"),
    ("x {⍺,⍵}¨ x2", "f64[n 2]"),
    ("{⍺+⍵}/A", "f64[n]"),
    ("w +⌸ (⍳w ⋄ 1)", "i64[w]"),
    ("{⊃⍋⍵}⍤1 ⊢ {√+/⍵×⍵}⍤1 ⊢ A (-⍤1⍤1 2) w↑C", "idx<w>[n]"),
    ("{(u v)←⍵ ⋄ (u ⋄ v+1)}⍣3 ⊢ (x ⋄ 0)", "(f64[n] ⋄ i64)"),
    ("({(+/,⍵)÷9}⌺3 3)A", "f64[n m]"),
]


@pytest.mark.parametrize(("expression", "expected"), TYPES, ids=[expression for expression, _ in TYPES])
def test_types(expression: str, expected: str) -> None:
    result = checked(INPUTS + expression)
    assert result.core is not None, result.diagnostics
    assert result.last == expected


REJECTED = [
    ("x + 1 2 3 ⋄ 1 2 + 1 2 3", "E101"),
    ("1 2 3 +.× 1 2", "E102"),
    ("(a b)←1 2 3", "E105"),
    ("[1 2 ⋄ 3]", "E110"),
    ("1 'a'", "E111"),
    ("(x) (1 2)", "E111"),
    ("[]", "E120"),
    ("f : f64[..s ..t] → f64 ⋄ f←{0.5}", "E121"),
    ("f : f64[n] → f64[m] ⋄ f←{⍵}", "E122"),
    ("f : f64[n] → f64[n] → f64 ⋄ f←{⍺+.×⍵} ⋄ f x", "E130"),
    ("f : f64[p q] → f64 ⋄ f←{+/,⍵} ⋄ f x", "E131"),
    ("+/[3]x", "E132"),
    ("{⍺+⍵}x", "E133"),
    ("{⍵>0:1 ⋄ 1 2}s", "E101"),
    ("(x>0)⌿x ⋄ ((x>0)⌿x)+x2", "E140"),
    ("((x>0)⌿x)+(x2>0)⌿x2", "E140"),
    ("y3 : f64[4] ← 5↑x", "E200"),
    ("⌈/⍬", "E204"),
    ("1+'a'", "E300"),
    ("z : f32[n] ← x", "E301"),
    ("z : u8 ← 300", "E302"),
    ("{⍵>0:1 ⋄ 2}x", "E303"),
    ("x[x>0]", "E304"),
    ("1 2 3[5]", "E310"),
    ("{(⍵>0)⌿⍵}⍤1 ⊢ A", "E401"),
    ("{⍵,⍵}⍣3 ⊢ x", "E402"),
    ("⍳i", "E403"),
    ("f←{⍵≤1:1 ⋄ ⍵×f ⍵-1}", "E600"),
    ("{⍵}⍣i ⊢ x", "E601"),
    ("{⍵}⍣¯1 ⊢ x", "E601"),
    ("{⍵÷2}⍣{⍵<1} ⊢ s", "E601"),
    ("{⎕←⍵}¨x", "E602"),
    ("{+/⍵×⍵}∂ x", "E620"),
    ("summ x", "E001"),
]


@pytest.mark.parametrize(("program", "code"), REJECTED, ids=[program for program, _ in REJECTED])
def test_rejected(program: str, code: str) -> None:
    result = checked(INPUTS + program)
    assert result.core is None
    assert [d.code for d in result.diagnostics if d.is_error] == [code]


GUARDED = ["x + y", "⌈/x", "3↕x", "_ 2⍴x", "[x ⋄ y]", "A+B"]


@pytest.mark.parametrize("program", GUARDED)
def test_undecided_facts_become_guards(program: str) -> None:
    result = checked(INPUTS + program)
    assert result.core is not None
    assert result.core.guards
    assert {d.code for d in result.diagnostics} == {"W201"}
    strict = check(Source("<test>", INPUTS + program), strict=True)
    assert strict.core is None


def test_a_guard_is_known_afterwards() -> None:
    result = checked(INPUTS + "{y+⍵}⍣3 ⊢ x")
    assert result.core is not None
    assert len(result.core.guards) == 1


def test_one_error_per_cause() -> None:
    result = checked("a←1 2+1 2 3\nb←a×2\nc←b+a\n+/c\n1 'a'")
    assert [d.code for d in result.diagnostics] == ["E101", "E111"]


def test_modules() -> None:
    library = {"tools": "half ← {⍵÷2}\npi ← ○1\nboth ← {⍺⍺ ⍵}"}

    def load(name: str, importer: str | None) -> Source | None:
        return Source(name, library[name]) if name in library else None

    result = check(Source("<test>", "use tools\ntools.half 3\n-tools.both 1"), load_module=load)
    assert result.core is not None, result.diagnostics
    assert [nested(v) for v in interpret(result.core, {}, {}).printed] == [1.5, -1]
    library["ones"] = "⎕IO←1\nnumbers ← ⍳∘3\nfirst ← {⍵[1]}\nsum ← +/[1]"
    ones = check(Source("<test>", "use ones\nones.first 5 6\nones.sum 2 2⍴⍳4\n⍳2"), load_module=load)
    assert ones.core is not None, ones.diagnostics
    assert [nested(v) for v in interpret(ones.core, {}, {}).printed] == [5, [4, 6], [0, 1]]
    missing = check(Source("<test>", "use tool\ntool.half 3"), load_module=load)
    assert missing.core is None


@pytest.mark.parametrize("last", ["(g{i} ⍵)+g{i} ⍵", "g{i} ⍵"])
def test_expansion_is_bounded(last: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import rho.typechecker.elaborate.context as context

    monkeypatch.setattr(context, "NODE_BUDGET", 20_000)
    monkeypatch.setattr(context, "DEPTH_LIMIT", 100)
    chain = "\n".join(f"g{i + 1}←{{{last.format(i=i)}}}" for i in range(200))
    result = checked("g0←{⍵+1}\n" + chain + "\ng199 3")
    assert [d.code for d in result.diagnostics] == ["E610"]


def test_long_inputs() -> None:
    assert printed("-" * 300 + "5") == [5]
    assert printed("+".join(["1"] * 1000)) == [1000]
    assert printed("-" + "¨" * 300 + "1 2") == [[-1, -2]]
