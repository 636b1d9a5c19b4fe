"""Rows of the operators, of the syntax and of the reserved words.  The valences of an operator are those of its derived
function."""

from __future__ import annotations

from .record import Example, GlyphRole, Primitive, PrimitiveUse

# ---------------------------------------------------------------------------------------------------- operators

def _monadic_use(name: str, form: str, doc: str, *examples: Example) -> PrimitiveUse:
    return PrimitiveUse(name, doc, (None,), examples, type=form)


def _dyadic_use(name: str, form: str, doc: str, *examples: Example) -> PrimitiveUse:
    return PrimitiveUse(name, doc, (None, None), examples, type=form)


def _monadic(glyph: str, names: str, key: str | None, monadic: PrimitiveUse | None, dyadic: PrimitiveUse | None,
    later: bool = False) -> Primitive:
    return Primitive(glyph, tuple(names.split()), key, GlyphRole.MONADIC_OPERATOR, monadic, dyadic, later=later)


def _dyadic(glyph: str, names: str, key: str | None, monadic: PrimitiveUse | None, dyadic: PrimitiveUse | None) -> Primitive:
    return Primitive(glyph, tuple(names.split()), key, GlyphRole.DYADIC_OPERATOR, monadic, dyadic)


OPERATORS: tuple[Primitive, ...] = (
    _monadic(
        "/", "reduce slash", None,
        _monadic_use(
            "reduce", "f/ x", "Put f between the items along the last axis, right to left; an empty axis gives f's identity.",
            ("+/1 2 3", "6"), ("-/1 2 3", "2"), ("+/⍬", "0"),
        ),
        _dyadic_use(
            "windowed reduce", "k f/ x", "Reduce each run of k neighbouring items along the last axis.",
            ("2+/1 2 3 4", "3 5 7"),
        ),
    ),
    _monadic(
        "⌿", "reducefirst", "/",
        _monadic_use("reduce first", "f⌿ x",
             "Put f between the items along the first axis, right to left: elements if f takes two to one, else major cells.",
             ("+⌿2 3⍴⍳6", "3 5 7")),
        _dyadic_use(
            "windowed reduce first", "k f⌿ x", "Reduce each run of k neighbouring major cells.", ("2+⌿3 2⍴⍳6", "2 4\n6 8"),
        ),
    ),
    _monadic(
        "\\", "scan", None,
        _monadic_use(
            "scan", "f\\ x",
            "Item i is the reduction of the first i+1 items along the last axis; with a dfn a left fold: ⍺ is the result so far, "
            "⍵ the next item.  `-\\` and `÷\\` are running alternating sums and products, which round and overflow as these do.",
            ("+\\1 2 3", "1 3 6"), ("-\\1 2 3", "1 ¯1 2"),
        ),
        None,
    ),
    _monadic(
        "⍀", "scanfirst", ".",
        _monadic_use("scan first", "f⍀ x", "Scan along the first axis.", ("+⍀2 2⍴⍳4", "0 1\n2 4")),
        None,
    ),
    _monadic(
        "¨", "each", "1",
        _monadic_use("each", "f¨ x", "Apply f to each element.", ("{⍵×2}¨1 2 3", "2 4 6")),
        _dyadic_use("each", "x f¨ y", "Apply f to corresponding elements.", ("1 2 3{⍺+⍵}¨10 20 30", "11 22 33")),
    ),
    _dyadic(
        "⍤", "rank atop", "J",
        _monadic_use(
            "rank / atop", "f⍤r ⊢ x",
            "Apply f to the cells of rank r; negative r counts from the frame. With a function: `f⍤g ⊢ x` is `f g x`.",
            ("+/⍤1 ⊢ 2 3⍴⍳6", "3 12"), ("⌽⍤¯1 ⊢ 2 2⍴⍳4", "1 0\n3 2"), ("-⍤×¯5", "1"),
        ),
        _dyadic_use(
            "rank / atop", "x f⍤a b ⊢ y", "Apply f between the cells of rank a and b; with a function `x f⍤g y` is `f x g y`.",
            ("(2 3⍴⍳6)-⍤1 ⊢ 0 1 2", "0 0 0\n3 3 3"), ("3-⍤×4", "¯12"),
        ),
    ),
    _monadic(
        "˘", "cells", "U",
        _monadic_use("cells", "f˘ x", "Apply f to each major cell: `f⍤¯1`.", ("⌽˘2 2⍴⍳4", "1 0\n3 2")),
        _dyadic_use("cells", "x f˘ y", "Apply f between corresponding major cells.", ("1 2,˘10 20", "1 10\n2 20")),
    ),
    _monadic(
        "⍨", "commute self", "T",
        _monadic_use("self", "f⍨ x", "`x f x`.", ("×⍨3", "9")),
        _dyadic_use("commute", "x f⍨ y", "`y f x`.", ("2-⍨5", "3")),
    ),
    _dyadic(
        "∘", "jot beside compose bind", "j",
        _monadic_use(
            "beside / bind", "f∘g x", "`f g x`; with an array on one side that argument is bound: `2∘×`, `×∘2`.",
            ("-∘÷4", "¯0.25"), ("2∘×5", "10"), ("(*∘2)5", "25"),
        ),
        _dyadic_use("beside", "x f∘g y", "`x f g y`.", ("10-∘÷4", "9.75")),
    ),
    _dyadic(
        "⍥", "over", "O",
        _monadic_use("over", "f⍥g x", "`f g x`.", ("-⍥|¯3", "¯3")),
        _dyadic_use("over", "x f⍥g y", "`(g x) f g y`.", ("¯3+⍥|¯4", "7")),
    ),
    _dyadic(
        "⍛", "behind", "F",
        _monadic_use("behind", "f⍛g x", "`(f x) g x`.", ("-⍛+3", "0")),
        _dyadic_use("behind", "x f⍛g y", "`(f x) g y`.", ("2-⍛+5", "3")),
    ),
    _monadic(
        "∘.", "outer outerproduct", "X", None,
        _dyadic_use(
            "outer product", "x ∘.f y", "f between every element of x and every element of y.", ("1 2∘.×1 2 3", "1 2 3\n2 4 6"),
        ),
    ),
    _dyadic(
        ".", "inner innerproduct", None, None,
        _dyadic_use(
            "inner product", "x f.g y", "`f/` of g between the rows of x and the columns of y; `+.×` is the matrix product.",
            ("1 2 3+.×4 5 6", "32"), ("(2 2⍴⍳4)+.×2 2⍴⍳4", "2  3\n6 11"),
        ),
    ),
    _dyadic(
        "⍣", "repeat iterate fold", "P",
        _monadic_use(
            "repeat, fold", "f⍣n ⊢ x",
            "Apply f n times, n static or bounded; `f⍣(n ⋄ p)` stops early once p holds of the new value ⍵ (the old one is ⍺). "
            "With an array `f⍣xs ⊢ s` folds: s becomes `c f s` for each major cell c of xs, first to last. Over `⍳n`, `a+b×⍳n` "
            "or `⌽` of one ⍺ is also a size in the body, so that `(⍺↑L[⍺;])+.×⍺↑x` lines up.",
            ("{⍵×2}⍣3 ⊢ 1", "8"), ("{⍵×2}⍣(10 ⋄ {⍵>20}) ⊢ 1", "32"), ("{⍺+2×⍵}⍣3 1 2 ⊢ 0", "16"),
            ("x ← 1 2 3 4 ⋄ {⍵+ +/⍺↑x}⍣(⍳4) ⊢ 0", "10"),
        ),
        _dyadic_use("repeat", "x f⍣n ⊢ y", "Apply `x∘f` n times.", ("2×⍣3 ⊢ 1", "8")),
    ),
    _dyadic(
        "⍣\\", "states", "S",
        _monadic_use(
            "states", "f⍣\\n ⊢ x",
            "Apply f n times, or for each major cell of an array, and keep all states, the initial one first.",
            ("{⍵×2}⍣\\3 ⊢ 1", "1 2 4 8"), ("{⍺+2×⍵}⍣\\3 1 2 ⊢ 0", "0 3 7 16"),
        ),
        _dyadic_use("states", "x f⍣\\n ⊢ y", "The states of applying `x∘f` n times.", ("2×⍣\\3 ⊢ 1", "1 2 4 8")),
    ),
    _dyadic(
        "@", "at", None,
        _monadic_use(
            "at", "f@i ⊢ x",
            "x with the major cells at i replaced by f of them, or by an array; i is indices, a mask, or a function giving a "
            "mask.",
            ("0@1 ⊢ 5 6 7", "5 0 7"), ("-@0 2 ⊢ 5 6 7", "¯5 6 ¯7"), ("0@(2∘<)⊢1 2 3 4", "1 2 0 0"),
        ),
        _dyadic_use("at", "y f@i ⊢ x", "x with the major cells at i replaced by `y f` of them.", ("10+@1 ⊢ 5 6 7", "5 16 7")),
    ),
    _monadic(
        "⌸", "key", "K", None,
        _dyadic_use(
            "key", "k f⌸ (i ⋄ v)", "Reduce the values v that share an index i, into k bins; an unused bin holds f's identity.",
            ("3+⌸(0 2 0 ⋄ 1)", "2 0 1"), ("2×⌸(0 1 0 ⋄ 5 7 9)", "45 7"),
        ),
    ),
    _dyadic(
        "⌺", "stencil", "~",
        _monadic_use(
            "stencil", "(f⌺w) x", "f of the window of shape w around every position, with zeros beyond the edges.",
            ("({+/,⍵}⌺3)1 2 3 4", "3 6 9 7"),
        ),
        None,
    ),
    _monadic(
        "∂", "gradient grad", "D",
        _monadic_use(
            "gradient", "f∂ x", "The derivatives of the scalar-valued f at x, of x's shape.", ("{+/⍵*2}∂1 2 3", "2 4 6"),
        ),
        _dyadic_use(
            "gradient of a sum", "s f∂ x", "The derivatives of the sum of s times the value of f at x; s has that value's shape.",
            ("1 0 2 {⍵*2}∂ 1 2 3", "2 0 12"),
        ),
    ),
    _dyadic(
        "⍫", "adjoint withadjoint", "G",
        _monadic_use(
            "with adjoint", "f⍫g x",
            "`f x`, whose gradient is what g says: `x g s` is the cotangent of x, of its shape, from the cotangent s of `f x`.",
            ("({1.0×⌊⍵}⍫{⍵}) 1.5 2.5", "1 2"), ("{+/({1.0×⌊⍵}⍫{⍵})3×⍵}∂1.5 2.5", "3 3"),
        ),
        None,
    ),
)  # fmt: skip


# ---------------------------------------------------------------------------------------------------- syntax
#
# Constants, names of arguments, brackets, separators, reserved words, and characters that the language does not use.

def _row(glyph: str, names: str, key: str | None, doc: str, *examples: Example, role: GlyphRole = GlyphRole.SYNTAX) -> Primitive:
    return Primitive(glyph, tuple(names.split()), key, role, doc=doc, examples=examples)


SYNTAX: tuple[Primitive, ...] = (
    _row("⍬", "zilde", "}", "The empty vector, `i64[0]`.", ("⍴⍬", "0"), role=GlyphRole.CONSTANT),
    _row("∞", "infinity", "N", "Infinity, an `f64`.", ("∞>5", "1"), role=GlyphRole.CONSTANT),
    _row("⍺", "alpha", "a", "The left argument of a dfn.", ("3{⍺-⍵}1", "2")),
    _row("⍵", "omega", "w", "The right argument of a dfn.", ("{⍵+1}5", "6")),
    _row("⍺⍺", "leftoperand", "A", "The left operand inside a user operator.", ("+{⍺⍺/⍵}1 2 3", "6")),
    _row("⍵⍵", "rightoperand", "W", "The right operand inside a user operator.", ("5(+{⍺ ⍺⍺ ⍵⍵ ⍵}-)3", "2")),
    _row("¯", "negative highminus", "2", "The sign of a negative number; `-` is a function.", ("¯3+5", "2")),
    _row(
        "←", "gets assign", "[", "Give a name to a value, a function or an operator; `x[i]←v` and `x f← v` make a new x.",
        ("{x←⍵ ⋄ x+1}3", "4"),
    ),
    _row("→", "arrow", "]", "Between argument and result types of a signature: `f : f64[n] → f64`. There are no jumps."),
    _row(
        "⋄", "diamond", "`", "Separates statements, the cells of array notation `[a ⋄ b]` and the items of a tuple `(a ⋄ b)`.",
        ("[1 2 ⋄ 3 4]", "1 2\n3 4"),
    ),
    _row("⍝", "comment lamp", ",", "A comment to the end of the line.", ("1+1 ⍝ two", "2")),
    _row("⎕", "quad", "l", "`⎕←x` prints x and yields it; starts the names of the library, `⎕fft`.", ("⎕←1+1", "2")),
    _row("∆", "delta", "h", "A letter: may occur in names.", ("{∆x←⍵ ⋄ ∆x+1}1", "2")),
    _row("{", "", None, "`{…}` is a dfn: a function of ⍺ and ⍵; the last expression is its value.", ("{⍵×⍵}3", "9")),
    _row("}", "", None, "Ends a dfn.", ("{⍵}3", "3")),
    _row(
        "(", "", None, "`(…)` groups, makes a train of functions, or with `⋄` a tuple.", ("(1+2)×3", "9"), ("(+⌿÷≢)1 2 3", "2"),
    ),
    _row(")", "", None, "Ends a group.", ("(3)", "3")),
    _row(
        "[", "", None,
        "After an array `x[i;j]` selects along each axis; with `⋄` it is array notation; after a function an axis.",
        ("(5 6 7)[2]", "7"),
    ),
    _row("]", "", None, "Ends an index.", ("(5 6 7)[0]", "5")),
    _row(";", "", None, "Separates the axes inside `x[i;j]`; an empty one takes the axis whole.", ("(2 2⍴⍳4)[1;]", "2 3")),
    _row(
        ":", "", None,
        "In a dfn `condition : value` leaves with the value when the condition holds; at top level `name : type` is a "
        "signature.",
        ("{⍵>0:'pos' ⋄ 'neg'}5", "pos"),
    ),
    _row("'", "quote", "k", "Text: `'a'` is one character, `'ab'` a vector; a doubled quote is a quote.", ("'it''s'", "it's")),
    _row('"', "", None, "Text that is always a vector.", ('⍴"a"', "1")),
    _row(
        "_", "slot underscore", "f",
        "The size that reshape infers; in `(x _)←t` an item to discard; inside a number a separator.",
        ("3 _⍴⍳6", "0 1\n2 3\n4 5"),
    ),
    _row("use", "", None, 'Make a library or another file available: `use stats`, `use "./geometry.rho"`.'),
    _row(
        "input", "", None,
        'Declare data to load, with its type: `input x : f64[n] ← "x.npy"`, `input p : f64[n] ← "sales.csv:price" missing 0`.',
    ),
    _row(
        "param", "", None,
        "Declare a value that can be set from outside (`--set k=4`): `param k ← 3`; a natural number is usable in types.",
    ),
    _row("output", "", None, "Declare a result that can be saved: `output labels`, `output labels ← e`."),
    _row("schedule", "", None, "Say where and when named values are computed; never changes what they are."),
    _row("where", "", None, "Facts about sizes that a signature, an input or a param needs: `where h ∣ d`."),
)  # fmt: skip

RESERVED_WORDS: frozenset[str] = frozenset({"use", "input", "param", "output", "schedule", "where"})

ALIASES: dict[str, str] = {"−": "-", "∣": "|", "∼": "~", "⋆": "*", "◊": "⋄"}
"""Look-alike characters that are read as the glyph on the right."""

UNSUPPORTED_CHARACTERS: dict[str, str] = {
    "∇": "there is no recursion; use `⍣`, `/` or `\\`",
    "⍎": "text is never executed",
    "⍞": "there is no interactive input; declare an `input`",
    "⌶": "there are no system calls",
    "⊆": "arrays do not nest; use `↕` for windows or `⌸` to group by key",
    "⍠": "there are no variants",
    "⍢": "there is no under; use `@` to change a part of an array",
    "⍙": "names are made of letters, digits, `_` and `∆`",
    "#": "there are no namespaces; use `use` for modules",
    "$": "`$` has no meaning",
    "%": "`%` has no meaning; residue is `|`",
    "^": "`^` has no meaning; and is `∧`, power is `*`",
    "&": "`&` has no meaning; and is `∧`",
}
"""Characters of other APLs, or of a keyboard, that Rho does not have, with what to write instead."""
