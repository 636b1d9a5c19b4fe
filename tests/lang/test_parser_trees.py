"""Programs and the trees they are bound to."""

# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Callable

import pytest

from rho.lang.bind.functions import bind_operator
from rho.lang.syntax.parser import Parsed
from rho.lang.tree import expressions
from rho.lang.tree.expressions import NameClass

TREES = (
    ('1 2 ¯3.5 1e¯3 .5 5. 3J4 ∞ 1_000', '1 2 -3.5 0.001 0.5 5.0 (3+4j) inf 1000'),
    ('-', 'BareFunction(-)'),
    ('2+3×4', '(2 + (3 × 4))'),
    ('-3', '(- 3)'),
    ('+/1 2 3', '(</ +> 1 2 3)'),
    ('x←⍳5⋄x[1]', 'BindArray(x, (⍳ 5), ·) / IndexExpression(n:x, [1])'),
    ('f←{⍺+⍵}⋄1 f 2', 'BindFunction(f, {(n:⍺ + n:⍵)|⍺}) / (1 f:f 2)'),
    ('mean←+/÷≢', 'BindFunction(mean, Fork(</ +>, ÷, ≢))'),
    ('(+/÷≢)1 2 3', '(Fork(</ +>, ÷, ≢) 1 2 3)'),
    ('(2+⊢)5', '(Fork(2, +, ⊢) 5)'),
    ('(-÷)4', '(Atop(-, ÷) 4)'),
    ('(f g h)←1 2 3', 'BindArray(TupleTarget([f, g, h]), 1 2 3, ·)'),
    ('4(++-)2', '(4 Fork(+, +, -) 2)'),
    ('∘.×⍨⍳3', '(<⍨ <∘. ×>> (⍳ 3))'),
    ('1 2+.×3 4', '(1 2 <. + ×> 3 4)'),
    ('x←3⋄x+⍨f←3', 'BindArray(x, 3, ·) / (n:x <⍨ +> InlineBind(f, 3))'),
    ('(d+4+e)(d←5+e)(e←8)', 'Strand([(n:d + (4 + n:e)), InlineBind(d, (5 + n:e)), InlineBind(e, 8)])'),
    ('a←b←3', 'BindArray(a, InlineBind(b, 3), ·)'),
    ('⎕←3', 'PrintExpression(3)'),
    ('a←⎕←3', 'BindArray(a, PrintExpression(3), ·)'),
    ('\'a\' "a" \'ab\' \'\' \'it\'\'s\'', 'Strand([Text(\'a\', False), Text(\'a\', True), Text(\'ab\', True), Text(\'\', True), Text("it\'s", True)])'),
    ("'a' 1 2", "Strand([Text('a', False), 1, 2])"),
    ('⍬', 'Zilde()'),
    ('3 _⍴⍳6', '(Strand([3, Slot()]) ⍴ (⍳ 6))'),
    ('2 3⌿⍳2', '(2 3 ⌿ (⍳ 2))'),
    ('1 0 1/⍳3', '(1 0 1 / (⍳ 3))'),
    ('1 0 1(⌿)⍳3', '(1 0 1 ⌿ (⍳ 3))'),
    ('+⌿[0]2 2⍴1', "(Derived('⌿', [+], 0) (2 2 ⍴ 1))"),
    ('/[0]', "BareFunction(GlyphFunction('/', 0))"),
    ('⌽[0]2 2⍴1', "(GlyphFunction('⌽', 0) (2 2 ⍴ 1))"),
    (',[.5]2', "(GlyphFunction(',', 0.5) 2)"),
    ('x←⍳3⋄x[1]←5', 'BindArray(x, (⍳ 3), ·) / Replace(n:x, [1], ·, 5)'),
    ('x←⍳3⋄x[1]+←5', 'BindArray(x, (⍳ 3), ·) / Replace(n:x, [1], +, 5)'),
    ('x←⍳3⋄x×←5', 'BindArray(x, (⍳ 3), ·) / Modify(n:x, ×, 5)'),
    ('x←⍳3⋄f←{⍺+⍵}⋄x f←5', 'BindArray(x, (⍳ 3), ·) / BindFunction(f, {(n:⍺ + n:⍵)|⍺}) / Modify(n:x, f:f, 5)'),
    ('x←2 2⍴1⋄x[;1]', 'BindArray(x, (2 2 ⍴ 1), ·) / IndexExpression(n:x, [·, 1])'),
    ('x←2 2⍴1⋄x[;]', 'BindArray(x, (2 2 ⍴ 1), ·) / IndexExpression(n:x, [·, ·])'),
    ('[1 2⋄3 4]', 'ArrayNotation([1 2, 3 4])'),
    ('[]', 'ArrayNotation([])'),
    ('[1 2⋄]', 'ArrayNotation([1 2])'),
    ('(1⋄2)', 'Tuple([1, 2])'),
    ('(1⋄(2⋄3))', 'Tuple([1, Tuple([2, 3])])'),
    ('(x y)←(1⋄2)', 'BindArray(TupleTarget([x, y]), Tuple([1, 2]), ·)'),
    ('(x _)←(1⋄2)', 'BindArray(TupleTarget([x, DiscardTarget()]), Tuple([1, 2]), ·)'),
    ('{⍵>0:1⋄0}5', '({Guard((n:⍵ > 0), 1) ⋄ 0} 5)'),
    ('{⍺⍺ ⍵}', 'BareFunction(OperatorDfn(False))'),
    ('op←{⍺⍺ ⍵}⋄-op 3', 'BindOperator(op, OperatorDfn(False)) / (OperatorCall(o:op, [-]) 3)'),
    ('op←{⍺ ⍺⍺ ⍵⍵ ⍵}⋄+op-', 'BindOperator(op, OperatorDfn(True)) / BareFunction(OperatorCall(o:op, [+, -]))'),
    ('op←{⍺⍺+⍵}⋄6 op 9', 'BindOperator(op, OperatorDfn(False)) / (OperatorCall(o:op, [6]) 9)'),
    ('g←⌽⍤1⊢2 2⍴1', 'BindArray(g, (<⍤ ⌽ 1> (⊢ (2 2 ⍴ 1))), ·)'),
    ('(-⍤1⍤1 2)', 'BareFunction(<⍤ <⍤ - 1> 1 2>)'),
    ('f←+⋄f⍤1⊢3', 'BindFunction(f, +) / (<⍤ f:f 1> (⊢ 3))'),
    ('n←2⋄-⍣n 5', 'BindArray(n, 2, ·) / (<⍣ - n:n> 5)'),
    ('{⍵×2}⍣\\3⊢1', '(<⍣\\ {(n:⍵ × 2)} 3> (⊢ 1))'),
    ('{⍵÷2}⍣(20⋄{1≥⍵})⊢100', '(<⍣ {(n:⍵ ÷ 2)} Tuple([20, {(1 ≥ n:⍵)}])> (⊢ 100))'),
    ('2∘*', 'BareFunction(<∘ 2 *>)'),
    ('⌊∘÷', 'BareFunction(<∘ ⌊ ÷>)'),
    ('0@1 2⊢⍳3', '(<@ 0 1 2> (⊢ (⍳ 3)))'),
    ('-@{⍵>1}⍳3', '(<@ - {(n:⍵ > 1)}> (⍳ 3))'),
    ('3+⌸(0 1⋄5 6)', '(3 <⌸ +> Tuple([0 1, 5 6]))'),
    ('(+⌺3)⍳5', '(<⌺ + 3> (⍳ 5))'),
    ('+˘2 2⍴1', '(<˘ +> (2 2 ⍴ 1))'),
    ('f64 3', '(f64 3)'),
    ('⎕fft 1 2', '(⎕fft 1 2)'),
    ('⎕A', "SystemName('⎕A')"),
    ('⎕IO', "SystemName('⎕IO')"),
    ('×/∘⍳5', '(<∘ </ ×> ⍳> 5)'),
    ('+/⍤1⊢2 2⍴1', '(<⍤ </ +> 1> (⊢ (2 2 ⍴ 1)))'),
    ('-∂3', '(<∂ -> 3)'),
    ('x←3⋄x←{x+⍵}5', 'BindArray(x, 3, ·) / BindArray(x, ({(n:x + n:⍵)} 5), ·)'),
    ('1 2 3[1]', 'IndexExpression(1 2 3, [1])'),
    ('+/¨⍳3', '(<¨ </ +>> (⍳ 3))'),
    ('⊂1 2⌷3', '(⊂ (1 2 ⌷ 3))'),
    ('x←1⋄y←x', 'BindArray(x, 1, ·) / BindArray(y, n:x, ·)'),
    ('f←{⍺←5⋄⍺+⍵}', 'BindFunction(f, {BindArray(⍺, 5, ·) ⋄ (n:⍺ + n:⍵)|⍺})'),
)  # fmt: skip
"""A program, and its statements as `conftest.written` shows them, separated by ` / `."""


@pytest.mark.parametrize(("program", "expected"), TREES, ids=[program for program, _ in TREES])
def test_tree(program: str, expected: str, show: Callable[..., str]) -> None:
    assert show(program).replace("\n", " / ") == expected


SAME = (
    ("`iota 5", "⍳5"),
    ("`i5", "⍳5"),
    ("x`gets`iota 3", "x←⍳3"),
    ("{`alpha+`omega}", "{⍺+⍵}"),
    ("`-5+5", "¯5+5"),
    ("`infinity", "∞"),
    ("`erf 2", "⎕erf 2"),
    ("`erf2", "⎕erf 2"),
    ("1 2`outer`times 3", "1 2∘.×3"),
    ("1+1 `comment `nonsense", "1+1"),
    ("1+1 `, `nonsense", "1+1"),
    ("`quote`iota'", "'`iota'"),
    ("5−3∣2∼⋆◊4", "5-3|2~*⋄4"),
    ("'−`iota'", "'−`iota'"),
    ("[1 2\n3 4]", "[1 2⋄3 4]"),
    ("[\n1 2\n\n3 4\n]", "[1 2⋄3 4]"),
    ("(1\n2)", "(1⋄2)"),
    ("(\n1\n)", "1"),
    ("{⍝ a\n⍵ ⍝ b\n}3", "{⍵}3"),
    ("{a←⍵\n\n⋄a}3", "{a←⍵⋄a}3"),
    ("1 +\t2\r\n3", "1+2⋄3"),
    ("a←1⋄\n⋄a", "a←1⋄a"),
    ("1e5 1E5", "1E5 1e5"),
    ("f←{⍵}⋄x←1⋄x f← 2", "f←{⍵}⋄x←1⋄x f←2"),
    ("⎕ ← 3", "⎕←3"),
)


@pytest.mark.parametrize(("program", "same"), SAME)
def test_spellings_mean_the_same(program: str, same: str, show: Callable[..., str]) -> None:
    assert show(program) == show(same)


DECLARATIONS = (
    ('input x : f64[n 3] ← "x.npy" where n ≥ 1',
     "InputDeclaration(x, ArrayTypeExpression(ElementName('f64', []), [SizeName('n'), SizeNumber(3)]), 'x.npy', "
     "[Fact('≥', SizeName('n'), SizeNumber(1))], ColumnFormat(<CellFormat.ITEM: 'an item of the declared kind'>, '', ·, '', '.', ''), [], ·)"),
    ("input x : i64", "InputDeclaration(x, ArrayTypeExpression(ElementName('i64', []), []), ·, [], ColumnFormat(<CellFormat.ITEM: 'an item of the declared kind'>, '', ·, '', '.', ''), [], ·)"),
    ("param k ← 3", "Param(k, 3, [])"),
    ("param k ← 3 where 1≤k≤9",
     "Param(k, 3, [Fact('≤', SizeNumber(1), SizeName('k')), Fact('≤', SizeName('k'), SizeNumber(9))])"),
    ("output y ← 1", "OutputDeclaration(y, 1, ColumnFormat(<CellFormat.ITEM: 'an item of the declared kind'>, '', ·, '', '.', ''))"),
    ("y←1⋄output y", "BindArray(y, 1, ·) / OutputDeclaration(y, n:y, ColumnFormat(<CellFormat.ITEM: 'an item of the declared kind'>, '', ·, '', '.', ''))"),
    ("use stats", "ModuleUse(stats, ·)"),
    ('use "./geometry.rho"', "ModuleUse(geometry, './geometry.rho')"),
    ("x : f64[2] ← 1 2", "BindArray(x, 1 2, ArrayTypeExpression(ElementName('f64', []), [SizeNumber(2)]))"),
    ("x : f64[2]", "Annotation(x, ArrayTypeExpression(ElementName('f64', []), [SizeNumber(2)]), [])"),
    ("f : f64 → f64[n]",
     "Signature(f, ·, Parameter(·, ArrayTypeExpression(ElementName('f64', []), [])), "
     "ArrayTypeExpression(ElementName('f64', []), [SizeName('n')]), [], [])"),
    ("f : (f64 → f64) → f64 → f64",
     "Signature(f, ·, Parameter(·, ArrayTypeExpression(ElementName('f64', []), [])), ArrayTypeExpression(ElementName('f64', []), []), [], "
     "[Signature(⍺⍺, ·, Parameter(·, ArrayTypeExpression(ElementName('f64', []), [])), "
     "ArrayTypeExpression(ElementName('f64', []), []), [], [])])"),
    ("f : 0..1 T[..s] → ω T → (T ⋄ idx<n>) where T num, h∣n",
     "Signature(f, Parameter(Quantity(SizeNumber(0), SizeNumber(1)), ArrayTypeExpression(ElementName('T', []), [ShapeVariable('s')])), "
     "Parameter(Quantity(·, ·), ArrayTypeExpression(ElementName('T', []), [])), "
     "TupleTypeExpression([ArrayTypeExpression(ElementName('T', []), []), "
     "ArrayTypeExpression(ElementName('idx', [SizeName('n')]), [])]), "
     "[Fact('num', SizeName('T'), ·), Fact('∣', SizeName('h'), SizeName('n'))], [])"),
    ("x : int<0..n-1>[k≤n 0⌈n-1 (2 × n) ⌊n÷2]",
     "Annotation(x, ArrayTypeExpression(ElementName('int', [SizeNumber(0), SizeCall('-', [SizeName('n'), SizeNumber(1)])]), "
     "[BoundedSize('k', SizeName('n')), SizeCall('⌈', [SizeNumber(0), SizeCall('-', [SizeName('n'), SizeNumber(1)])]), "
     "SizeCall('×', [SizeNumber(2), SizeName('n')]), SizeCall('⌊', [SizeCall('÷', [SizeName('n'), SizeNumber(2)])])]), [])"),
    ("schedule { gpu { a ⋄ b }\n split x rows 3:1 over gpu0 }",
     "ScheduleBlock([Directive([DirectiveWord('gpu'), DirectiveGroup([Directive([DirectiveWord('a')]), Directive([DirectiveWord('b')])])]), "
     "Directive([DirectiveWord('split'), DirectiveWord('x'), DirectiveWord('rows'), DirectiveWord('3:1'), DirectiveWord('over'), "
     "DirectiveWord('gpu0')])])"),
)  # fmt: skip


@pytest.mark.parametrize(("program", "expected"), DECLARATIONS, ids=[program for program, _ in DECLARATIONS])
def test_declaration(program: str, expected: str, show: Callable[..., str]) -> None:
    assert show(program).replace("\n", " / ") == expected


def test_index_origin_is_taken_from_the_first_statement(parsed: Callable[..., Parsed]) -> None:
    assert parsed("⍝ old APL\n⎕IO←1\n⍳3").program.index_origin == 1
    assert parsed("⎕IO ← 0 ⋄ ⍳3").program.index_origin == 0
    assert len(parsed("⎕IO←1 ⋄ ⍳3").program.statements) == 1


def test_members_have_the_classes_their_module_gives(parsed: Callable[..., Parsed]) -> None:
    exports = {"pi": NameClass.ARRAY, "mean": NameClass.FUNCTION, "twice": NameClass.MONADIC_OPERATOR}
    found = parsed("use m\nm.mean 2 m.pi\n-m.twice 3", modules={"m": exports}.get)
    assert not found.diagnostics
    assert isinstance(found.program.statements[1], expressions.Evaluate)
    assert [d.code for d in parsed("use m\nm.maen 3", modules={"m": exports}.get).diagnostics] == ["E001"]
    assert [d.code for d in parsed("use absent", modules={"m": exports}.get).diagnostics] == ["E019"]


def test_a_dot_without_a_module_is_an_inner_product(show: Callable[..., str]) -> None:
    assert show("f←+⋄g←×⋄1 f.g 2").endswith("(1 <. f:f f:g> 2)")


def test_names_given_by_a_session_are_in_scope(parsed: Callable[..., Parsed]) -> None:
    found = parsed("f x", names={"f": NameClass.FUNCTION, "x": NameClass.ARRAY})
    assert not found.diagnostics
    after = parsed("y←(z←3)+x ⋄ g←{⍺⍺ ⍵}", names={"x": NameClass.ARRAY}).names
    assert after == {"x": NameClass.ARRAY, "y": NameClass.ARRAY, "z": NameClass.ARRAY, "g": NameClass.MONADIC_OPERATOR}


def test_an_operator_is_bound_for_the_classes_of_its_operands(parsed: Callable[..., Parsed]) -> None:
    statement = parsed("op←{⍺⍺¨⍵⍵}").program.statements[0]
    assert isinstance(statement, expressions.BindOperator) and isinstance(statement.value, expressions.OperatorDfn)
    both, problems = bind_operator(statement.value, NameClass.FUNCTION, NameClass.ARRAY)
    assert both is not None and not problems and not both.uses_alpha
    value = both.body[0]
    assert isinstance(value, expressions.Evaluate) and isinstance(value.value, expressions.Monadic)
    other, problems = bind_operator(statement.value, NameClass.ARRAY, NameClass.ARRAY)
    assert other is None and [problem.code for problem in problems] == ["E008"]


def test_an_operator_sees_the_names_of_its_definition(parsed: Callable[..., Parsed]) -> None:
    statement = parsed("k←2 ⋄ op←{k+⍺⍺ ⍵}").program.statements[1]
    assert isinstance(statement, expressions.BindOperator) and isinstance(statement.value, expressions.OperatorDfn)
    dfn, problems = bind_operator(statement.value, NameClass.FUNCTION)
    assert dfn is not None and not problems


def test_spans_point_into_the_text_as_it_was_typed(parsed: Callable[..., Parsed]) -> None:
    text = "x`gets`iota 3 ⋄ y ← x `times 2"
    second = parsed(text).program.statements[1]
    assert isinstance(second, expressions.BindArray) and isinstance(second.value, expressions.Dyadic)
    span = second.value.function.span
    assert text[span.start : span.end].strip() == "`times"
    assert text[second.span.start : second.span.end] == "y ← x `times 2"
