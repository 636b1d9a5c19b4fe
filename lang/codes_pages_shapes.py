"""Pages of E1xx and E2xx: shapes that do not fit, and facts about sizes.  Loaded by `lang.codes` when asked for."""

from __future__ import annotations

from .codes import Code
from .codes_record import Page

PAGES: dict[str, Page] = {
    Code.E101: Page(
        "Functions such as `+` pair the elements of their arguments. The axes of the argument with fewer axes must equal "
        "the *leading* axes of the other: a vector of n goes with a matrix of n rows, one number a row. There is no "
        "stretching of axes of length 1 and no padding. To pair a vector with each row write `m +⍤1 ⊢ v`.",
        "m ← 2 3⍴⍳6\nm + 10 20 30",
        "m ← 2 3⍴⍳6\nm +⍤1 ⊢ 10 20 30",
    ),
    Code.E102: Page(
        "`x f.g y` pairs the last axis of x with the first axis of y, so these two lengths must be equal. If the axes are "
        "there but in the wrong place, transpose one argument with `⍉`.",
        "a ← 2 3⍴⍳6\nb ← 2 3⍴⍳6\na +.× b",
        "a ← 2 3⍴⍳6\nb ← 2 3⍴⍳6\na +.× ⍉b",
    ),
    Code.E103: Page(
        "`,` joins along the last axis and `⍪` along the first; all other axes must be equal. An argument with one axis "
        "less counts as one cell and must fit too.",
        "(2 3⍴⍳6) ⍪ 2 4⍴⍳8",
        "(2 3⍴⍳6) ⍪ 2 3⍴⍳6",
    ),
    Code.E105: Page(
        "`(x y) ← t` takes a tuple, or the major cells of an array, apart: there must be as many names as items. `_` "
        "discards one.",
        "(x y) ← (1 ⋄ 2 ⋄ 3)\nx + y",
        "(x y _) ← (1 ⋄ 2 ⋄ 3)\nx + y",
    ),
    Code.E110: Page(
        "`[a ⋄ b]` stacks cells into one array with one more axis, so all items need one shape and one kind of element. "
        "Arrays do not nest; items of different shapes can be kept together as a tuple `(a ⋄ b)`.",
        "[1 2 ⋄ 3]",
        "[1 2 ⋄ 3 4]",
    ),
    Code.E111: Page(
        "Items written side by side make a vector, so each must be a scalar and all of one kind. To stack arrays write `[a "
        "⋄ b]`, to keep them apart in a tuple `(a ⋄ b)`.",
        "v ← 1 2 3\nv 4",
        "v ← 1 2 3\nv , 4",
    ),
    Code.E120: Page(
        "`[]` has no items, so nothing says what its elements are or what shape its cells have. Say it in an annotation. "
        "`⍬` is the empty vector of integers and `''` the empty text.",
        "y ← []\n⍴y",
        "y : f64[0 3] ← []\n⍴y",
    ),
    Code.E121: Page(
        "`..s` stands for any number of axes. Two of them in one shape could be cut apart in many ways, so at most one is "
        "allowed.",
        "f : f64[..s ..t] → f64\nf ← {+/,⍵}",
        "f : f64[..s] → f64\nf ← {+/,⍵}",
    ),
    Code.E122: Page(
        "Every size in the result of a signature must follow from the arguments. This one appears in no argument; take it "
        "from a `param`, or from an argument of that size.",
        "f : f64 → f64[n]\nf ← {3⍴⍵}",
        "f : f64 → f64[3]\nf ← {3⍴⍵}",
    ),
    Code.E130: Page(
        "An operator takes one or two operands, and a function that was declared with two arguments needs both.",
        "area : f64[n] → f64[n] → f64[n]\narea ← {⍺×⍵}\narea 1 2 3",
        "area : f64[n] → f64[n] → f64[n]\narea ← {⍺×⍵}\n2 2 2 area 1 2 3",
    ),
    Code.E131: Page(
        "The function works on cells with a certain number of axes, for example a matrix inverse on matrices, and the "
        "argument has fewer. Give it the missing axes, for example with `⍪` or `⍴`.",
        "⎕det 1 2 3",
        "⎕det 2 2⍴1 2 3 4",
    ),
    Code.E132: Page(
        "Axes are counted from 0 (or from `⎕IO`) and must be known before the program runs. The array does not have the "
        "axis that is named.",
        "m ← 2 3⍴⍳6\n+/[2] m",
        "m ← 2 3⍴⍳6\n+/[1] m",
    ),
    Code.E133: Page(
        "Most functions have two forms: with one argument and with two. This one has only the other form; `rho explain` "
        "shows which forms a glyph has. A function in braces that mentions `⍺` needs a left argument unless it sets a "
        "default `⍺←…`.",
        "⍷1 2 3",
        "1 2⍷1 2 3",
    ),
    Code.E134: Page(
        "Functions are not values: they can be named and given to operators, but not printed or stored, and an array cannot "
        "be used as a function. Give the function an argument.",
        "mean ← {(+⌿⍵)÷≢⍵}\nmean",
        "mean ← {(+⌿⍵)÷≢⍵}\nmean 1 2 3",
    ),
    Code.E140: Page(
        "A mask keeps a number of items that is known only when the program runs. Such a size lines up with itself (both "
        "sides kept by the *same* named mask) but with nothing else. Filter both sides by one mask, or keep all items and "
        "use `¿`.",
        "input x : f64[n]\nx + (x>1)⌿x",
        "input x : f64[n]\nm ← x>1\n(m⌿x) + m⌿x",
    ),
    Code.E200: Page(
        "The program needs a fact about sizes that is false for all data: it can never run. The message shows both numbers.",
        "y : f64[4] ← 5↑1 2 3",
        "y : f64[5] ← 5↑1 2 3",
    ),
    Code.E201: Page(
        "The function promises to work for every size in its signature, but needs a fact that only some sizes satisfy; the "
        "message has an example that breaks it. Add the fact as `where` to the signature, and every call will have to meet "
        "it.",
        "f : f64[n] → f64[2 n÷2]\nf ← {2 _⍴⍵}",
        "f : f64[n] → f64[2 n÷2] where 2∣n\nf ← {2 _⍴⍵}",
    ),
    Code.E202: Page(
        "A size would be less than 0: for example a window longer than the array, or a subtraction in a type.",
        "4↕1 2 3",
        "2↕1 2 3",
    ),
    Code.E203: Page(
        "A size is divided by a number that may be 0, in a type or to infer the `_` of a reshape, so that size does not exist.",
        "x : f64[3÷0] ← ⍬",
        "x : f64[3÷1] ← 1.5 2.5 3.5",
    ),
    Code.E204: Page(
        "The result exists only when there is at least one item: `⌈/` and `⌊/` have no identity, and `⊃` needs a first "
        "item. Give a start value by joining it, or state that the axis is not empty.",
        "⌈/⍬",
        "⌈/0,⍬",
    ),
    Code.E209: Page(
        "Neither a proof nor a counterexample was found for a fact about sizes; it may well be true. In a script such a "
        "fact is checked when the data is loaded. In a function with a signature, add it as `where`.",
        "f : f64[n] → f64[(n×n×n)+5×n] → f64[6 ((n×n×n)+5×n)÷6]\nf ← {6 _⍴⍵}",
        "f : f64[n] → f64[(n×n×n)+5×n] → f64[6 ((n×n×n)+5×n)÷6] where 6∣(n×n×n)+5×n\nf ← {6 _⍴⍵}",
    ),
}  # fmt: skip
