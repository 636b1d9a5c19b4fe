"""Pages of E001–E019: characters, spelling, brackets, names, declarations.  Loaded by `lang.codes` when asked for."""

from __future__ import annotations

from .codes import Code
from .codes_record import Page, Stage

PAGES: dict[str, Page] = {
    Code.E001: Page(
        "The name is not defined above this place, is not an argument, and is not a library function. Names are looked up "
        "from top to bottom: a definition below does not count. A likely spelling is offered when one is near.",
        "total ← +/1 2 3\ntotl × 2",
        "total ← +/1 2 3\ntotal × 2",
    ),
    Code.E002: Page(
        "Up to the marked place the statement reads well, but what stands there cannot follow: `;` outside an index, a "
        "bracket with nothing to its left, a missing value, or a separator missing between two statements.",
        "x ← 3;4",
        "x ← 3 4",
    ),
    Code.E003: Page(
        "Every `(`, `[` and `{` needs its own closing bracket, in the right order. The label shows the bracket that has no "
        "partner.",
        "(1 + 2 × 3",
        "(1 + 2) × 3",
    ),
    Code.E004: Page(
        "A text starts with a quote and ends with the same quote on the same line. A quote inside the text is doubled: "
        "`'it''s'`.",
        "'abc",
        "'abc'",
    ),
    Code.E005: Page(
        "This is not a valid number. Numbers look like `3`, `¯3`, `2.5`, `1e¯3`, `3J4`, `1_000`; "
        "the minus sign of a number is `¯`, because `-` is a function.",
        "2 + 1e",
        "2 + 1e3",
    ),
    Code.E006: Page(
        "The character is not part of Rho. Some belong to other APLs and are left out on purpose: `∇` and `→` because every "
        "program must end, `⍎` because text is never executed, `⍞` and `⌶` because a program reads only its declared inputs.",
        "7 % 3",
        "3 | 7",
    ),
    Code.E007: Page(
        "After a backtick comes the name of a glyph (`` `iota ``) or one key (`` `i ``). A key that is a letter is followed "
        "by no other letter: more letters are a name. `rho explain` lists the names of a glyph, and docs/primitives.md "
        "lists them all.",
        "x ← `Zilde",
        "x ← `zilde",
    ),
    Code.E008: Page(
        "An operator such as `/ ¨ ⍤ ∘` builds a function from the function (or array) on its left, and some from one on the "
        "right too. Here that operand is missing.",
        "¨1 2 3",
        "-¨1 2 3",
    ),
    Code.E009: Page(
        "Functions take the argument on their right. Here nothing stands to the right of the function. A function alone, "
        "without any argument, may be named, put in parentheses or given to an operator.",
        "3 +",
        "3 + 1",
    ),
    Code.E010: Page(
        "Left of `←` stands a name, an indexed name `x[i]`, a name and a function `x +←`, or names in parentheses `(x y)`. "
        "Anything else cannot be given a value. Nothing is ever changed in place: `x[i]←v` makes a new x.",
        "3 ← 5",
        "three ← 5",
    ),
    Code.E011: Page(
        "A declaration does not read as one. Types are `f64`, `f64[n 3]`, `idx<n>[k]`, `(f64[n] ⋄ i64)`; a signature has an "
        "arrow, `f : f64[n] → f64`; an input has a type, `input x : f64[n]`.",
        "input x f64[n]",
        "input x : f64[n]",
    ),
    Code.E012: Page(
        "Sizes are read from right to left like all of APL, so `n-1+1` would be `n-(1+1)`. Most people read it the other "
        "way, so in types `+` with `-`, and `×` left of `+` or `-`, need parentheses.",
        "x : f64[3-1+1] ← 1.5 2.5 3.5",
        "x : f64[(3-1)+1] ← 1.5 2.5 3.5",
    ),
    Code.E013: Page(
        "After `⍤`, `⍣`, `⌺` and `@` the literal numbers are the whole right operand, and the array that follows them looks "
        "as if it belonged to it. Put `⊢` between operand and argument.",
        "m ← 2 2⍴⍳4\n⌽⍤1 m",
        "m ← 2 2⍴⍳4\n⌽⍤1 ⊢ m",
    ),
    Code.E014: Page(
        "`use input param output schedule where` start declarations, and the names of element types (`f64`, `bool`, …) are "
        "conversions. None of them can be given another meaning.",
        "where ← 3",
        "place ← 3",
    ),
    Code.E015: Page(
        "A lone `_` means two things only: in `3 _⍴x` the size that makes the elements fit, and in `(x _)←t` an item nobody "
        "wants. At most one size can be inferred.",
        "_ _⍴⍳6",
        "2 _⍴⍳6",
    ),
    Code.E016: Page(
        "Brackets may be nested 100 deep, one statement may apply 2,000 functions, and a file may have a million "
        "characters. Generated programs that need more should name the parts, or read their numbers with `input`.",
        "(" * 101 + "1" + ")" * 101,
        "(1)",
    ),
    Code.E017: Page(
        "Guards `condition : value` belong inside a function in braces; `use`, `input`, `param`, `output`, `schedule` and "
        "signatures belong to the program, outside of functions. There are no jumps and no `:If`: use a guard, or `⍣` to "
        "repeat.",
        "x ← 5\nx>0 : 'positive'",
        "x ← 5\n{⍵>0 : 'positive' ⋄ 'other'} x",
    ),
    Code.E018: Page(
        "The index origin belongs to the whole file, so it is set once, by the first statement, to 0 or 1.",
        "x ← 3\n⎕IO←1",
        "⎕IO←1\nx ← 3",
    ),
    Code.E019: Page(
        '`use name` finds `name.rho` of the standard library; `use "./file.rho"` finds a file in the folder of this one.',
        "use statistics",
        "use stats",
    ),
    Code.N001: Page(
        "The statement is right Rho, but hands that know another language may have meant something else: `*` is power, `/` "
        "repeats items, `-` negates all that is right of it, `=` compares. `rho eval`, `rho check`, sessions and editors say "
        "so; `rho run` does not. Statements with glyphs other than `←` get no such note.",
        "2*3+4",
        "4+2×3",
        Stage.EVAL,
    ),
}
