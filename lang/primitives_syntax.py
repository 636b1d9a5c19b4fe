"""Rows of the syntax: constants, names of arguments, brackets, statements, reserved words, and glyphs the language leaves out."""

from __future__ import annotations

from .primitives_record import Example, Primitive, Role


def _row(glyph: str, names: str, key: str | None, doc: str, *examples: Example, role: Role = Role.SYNTAX) -> Primitive:
    return Primitive(glyph, tuple(names.split()), key, role, doc=doc, examples=examples)


SYNTAX: tuple[Primitive, ...] = (
    _row("⍬", "zilde", "}", "The empty vector, `i64[0]`.", ("⍴⍬", "0"), role=Role.CONSTANT),
    _row("∞", "infinity", "N", "Infinity, an `f64`.", ("∞>5", "1"), role=Role.CONSTANT),
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
    _row("output", "", None, "Declare a result that can be saved: `output labels`, `output day as date`."),
    _row("schedule", "", None, "Say where and when named values are computed; never changes what they are."),
    _row("where", "", None, "Facts about sizes that a signature, an input or a param needs: `where h ∣ d`."),
)  # fmt: skip

RESERVED_WORDS: frozenset[str] = frozenset({"use", "input", "param", "output", "schedule", "where"})

ALIASES: dict[str, str] = {"−": "-", "∣": "|", "∼": "~", "⋆": "*", "◊": "⋄"}
"""Look-alike characters that are read as the glyph on the right."""

LEFT_OUT: dict[str, str] = {
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
"""Characters of other APLs (or of a keyboard) that Rho does not have, and what to do instead."""
