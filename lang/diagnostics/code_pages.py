"""The page of every diagnostic code: an explanation, a program that fails and its repair.  Imported when a page is shown."""

from __future__ import annotations

from .model import Code, Page, PageStage

# ---------------------------------------------------------------------------------------------------- E0xx: syntax and names

_SYNTAX: dict[str, Page] = {
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
        "so; `rho run` does not. Statements with glyphs other than `←` get no such note. `rho check --fix` leaves the fixes of "
        "notes, which change what a program computes; an editor applies them.",
        "2*3+4",
        "4+2×3",
        PageStage.EVAL,
    ),
}


# ------------------------------------------------------------- E3xx to E5xx: elements, indices, runtime sizes, quantities

_VALUES: dict[str, Page] = {
    Code.E300: Page(
        "The function does not work on elements of this type: arithmetic needs numbers, `< ≤ ≥ >` need two arguments of one "
        "kind, `∧` on floats needs whole numbers. Text and numbers never mix in one array; `i64` gives the code points of "
        "text.",
        "1 + 'a'",
        "1 + i64 'a'",
    ),
    Code.E301: Page(
        "Arguments widen by themselves (integers to floats, floats to complex) but never narrow, because that may lose "
        "digits. Write the conversion.",
        "input c : f64[3]\nx : f32[3] ← c",
        "input c : f64[3]\nx : f32[3] ← f32 c",
    ),
    Code.E302: Page(
        "The literal lies outside the range of its type: integers go from ¯9223372036854775808 to 9223372036854775807, u8 "
        "from 0 to 255, i32 to about 2.1 thousand million. Write it as a float (`1e20`) or choose a wider type.",
        "y : u8 ← 300",
        "y : i64 ← 300",
    ),
    Code.E303: Page(
        "A condition or a mask is made of bools, which comparisons give. Other numbers are not silently taken as truth: "
        "write `x≠0`. A guard needs one bool, not an array of them.",
        "input x : i64[3]\nx⌿1 2 3",
        "input x : i64[3]\n(x≠0)⌿1 2 3",
    ),
    Code.E304: Page(
        "Inside `x[…]` stand positions. A mask of 0s and 1s there would silently mean the first two items; to keep the "
        "items where the mask holds write `mask⌿x`, for their positions `⍸mask`; to replace them `0@mask ⊢ x`.",
        "x ← 5 6 7\nx[x>5]",
        "x ← 5 6 7\n(x>5)⌿x",
    ),
    Code.E305: Page(
        "A tuple `(a ⋄ b)` is a fixed list of values of any shapes; functions work on arrays. Take the tuple apart with `(a "
        "b) ← t`, or stack arrays of one shape with `[a ⋄ b]`. Also: `f⍣\\` keeps every state, so that it takes a count or an "
        "array, `f⍣\\n` or `f⍣\\xs`, and no tuple with a condition to stop by; `f⍣(n ⋄ p)` stops early and keeps the last state.",
        "t ← (1 2 ⋄ 3 4)\n1 + t",
        "t ← [1 2 ⋄ 3 4]\n1 + t",
    ),
    Code.E310: Page(
        "An index lies outside the axis: positions go from 0 to one less than the length (from 1 to the length with "
        "`⎕IO←1`), and negative positions do not count from the end. What can be seen beforehand is refused by the checker. "
        "An index whose range is not proved is checked when it is used (W310 says so), not when the program is loaded: loading "
        "checks facts about sizes (W201). `n|e` with n the length is always in range, and the last item is `⊃⌽x`.",
        "x ← 5 6 7\nx[3]",
        "x ← 5 6 7\nx[2]",
    ),
    Code.E330: Page(
        "Integers wrap: what does not fit starts again at the other end. Where the result is known before the program runs, "
        "that is surely not meant. Compute in a wider type: `f64` for what i64 cannot hold, `i64` for u8 and i32.",
        "2*100",
        "2*100.0",
    ),
    Code.E340: Page(
        "Patterns are a subset of RE2's: characters, `.`, classes `[a-z]` `[^,]` `\\d` `\\w` `\\s` (`\\D` `\\W` `\\S`: not), "
        "groups `(…)` `(?:…)` `(?P<name>…)`, choices `a|b`, repetition `* + ? {2,5}` (`*?` prefers few), `^ $ \\A \\z \\b \\B`, "
        "`\\t` `\\n` `\\x41`, and flags first: `(?i)` ignores case, with `(?s)` `.` is a line end, too. There are no named "
        "classes (`[[:digit:]]`, `\\pL`), flags of a part (`(?i:a)`), lines (`(?m)`) and quotes (`\\Q…\\E`). A pattern becomes "
        "an automaton before the program runs, so that searching ends after one step a character: nothing refers back to a group "
        "or asks for text ahead, and the numbers of positions and states are limited.",
        "use text\n'a1 b' text.search '(\\w)\\1'",
        "use text\n'a1 b' text.search '\\w\\d'",
    ),
    Code.E401: Page(
        "The function keeps a number of items that depends on the values, and it is applied to each cell of an array: every "
        "cell would get its own length, which is not an array. Use a mask over the whole array, or `¿` to keep every place.",
        "m ← 2 3⍴1 ¯2 3 ¯4 5 ¯6\n{(⍵>0)⌿⍵}⍤1 ⊢ m",
        "m ← 2 3⍴1 ¯2 3 ¯4 5 ¯6\n{(⍵>0)¿(⍵ ⋄ 0)}⍤1 ⊢ m",
    ),
    Code.E402: Page(
        "Each step of `f⍣n` must give a value of the same shape and type as it got, so that the memory of a loop is known. "
        "Make the array large enough before the loop, or use `⍣\\` to keep every state.",
        "{⍵,⍵}⍣3 ⊢ 1 2",
        "{⍵+⍵}⍣3 ⊢ 1 2",
    ),
    Code.E403: Page(
        "A size comes from a value that can be anything, so memory would have no bound. Sizes come from literals, `param`s, "
        "`≢` and `⍴`, arithmetic on these, and from counts such as `+/mask`, which have a bound. A `where` is about sizes: it "
        "cannot bound other values, such as a param `2.5`; bound those where they are used (`0⌈target`).",
        "input v : i64\n⍳v",
        "input m : bool[n]\n⍳+/m",
    ),
    Code.E500: Page(
        "The signature says how often each element of the argument is read, and the function reads it more often. Every "
        "reading place is labelled with its factor. Change the declaration, or give the value a name and share the result.",
        "f : 1 f64[n] → f64[n]\nf ← {⍵+⍵}",
        "f : 2 f64[n] → f64[n]\nf ← {⍵+⍵}",
    ),
    Code.E501: Page(
        "An argument declared `0` lends only its shape; its elements are never moved or read. Here they are read.",
        "f : 0 f64[n] → f64\nf ← {+/⍵}",
        "f : 0 f64[n] → i64\nf ← {≢⍵}",
    ),
    Code.E502: Page(
        "`move x gpu0` hands the elements of x to another device for good, so each may be read once. Here they are read "
        "again. Give the value that is used in both places a name and move that, or keep copies with `replicate`.",
        "x ← 1.5×⍳4\nschedule {\n  move x gpu0\n}\nx × x",
        "x ← 1.5×⍳4\nschedule {\n  replicate x\n}\nx × x",
    ),
    Code.E503: Page(
        "The signature promises that each element is read at least this often, and on some path it is not read. Declare a "
        "range such as `0..1`.",
        "f : 1 f64[n] → f64[n]\nf ← {0×⍳≢⍵}",
        "f : 0 f64[n] → i64[n]\nf ← {0×⍳≢⍵}",
    ),
}  # fmt: skip


# ------------------------------------------------------------------------------ E1xx and E2xx: shapes, and facts about sizes

_SHAPES: dict[str, Page] = {
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
        "item. Give a start value by joining it, or state that the axis is not empty. A choice by a mask, `⌈/m ¿ (x ⋄ ¯∞)`, "
        "reads data that is larger than memory once; a selection, `⌈/m⌿x`, is written to a temporary file first.",
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


# ------------------------------------------------------------- E6xx, E7xx and warnings: termination, loading, running

_RUNNING: dict[str, Page] = {
    Code.E600: Page(
        "Every program ends, so definitions may not refer to themselves, directly or in a circle; the message shows the "
        "circle. Use a reduction `f/`, a scan `f\\`, or a loop with a bound `f⍣n`.",
        "factorial ← {⍵≤1: 1 ⋄ ⍵×factorial ⍵-1}",
        "factorial ← {×/1+⍳⍵}",
    ),
    Code.E601: Page(
        "A loop `f⍣n` needs a count that is known or has a bound. For a loop until something holds, give both: `f⍣(100 ⋄ "
        "{done ⍵})`.",
        "{⍵÷2}⍣{1≥⍵} ⊢ 100",
        "{⍵÷2}⍣(20 ⋄ {1≥⍵}) ⊢ 100.0",
    ),
    Code.E602: Page(
        "How often and in which order an operator applies its function is not fixed, so a function that prints cannot be "
        "given to one. Print the result of the operator instead.",
        "{⎕←⍵ ⋄ ⍵×2}¨1 2 3",
        "⎕←{⍵×2}¨1 2 3",
    ),
    Code.E610: Page(
        "Functions without a signature are expanded at every call. A chain of them that each call the one before twice doubles "
        "at every step and soon reaches the limit of 60,000 operations. Give them signatures (`f : f64[n] → f64[n]`), call one "
        "in a loop, `f⍣2 ⊢ x`, or on cells, `f⍤1 ⊢ x`.",
        "g0 ← {⍵+1}\n" + "\n".join(f"g{i} ← {{g{i - 1} g{i - 1} ⍵}}" for i in range(1, 25)) + "\ng24 0",
        "{⍵+1}⍣1000 ⊢ 0",
    ),
    Code.E620: Page(
        "The language has this, but this version of Rho cannot run it yet.",
        "⊂1 2",
        "1 2",
    ),
    Code.E630: Page(
        "Only numbers of kind f32 and f64 have derivatives, `f∂ x` differentiates one number by them, and a few functions have "
        "no rule. Reduce the value with `+/`, or give the cotangent of its items on the left: `s f∂ x`.",
        "{⍵*2}∂1 2 3",
        "{+/⍵*2}∂1 2 3",
    ),
    Code.E701: Page(
        "The program needs a fact about the sizes of its data, and the data that was loaded breaks it. The message shows "
        "the fact with its numbers and the place that needs it. `rho check` reports such facts as W201.",
        "input x : f64[n] ← \"x.csv\"\n2 _⍴x",
        "input x : f64[n] ← \"x.csv\"\n1 _⍴x",
        PageStage.RUN,
        (("x.csv", "1\n2\n3\n"),),
    ),
    Code.E702: Page(
        "The largest amount of memory a program needs is known before it runs, and it is more than the device or "
        "`--max-memory` allows. The message names the largest arrays with their sizes. Nothing has been computed yet.",
        "x ← 1000000 1000000⍴1.5\n+/,x∘.+1 2",
        "x ← 1000 100⍴1.5\n+/,x∘.+1 2",
        PageStage.SHOWN,
    ),
    Code.E703: Page(
        "A conversion met a value that its type cannot hold: a fraction or a large number made into an integer, a number "
        "other than 0 and 1 made into a bool. Use `⌊` or `⌈` for fractions, or a wider type.",
        "u8 200 + 100",
        "i64 200 + 100",
        PageStage.RUN,
    ),
    Code.E704: Page(
        "The file does not exist or the system does not let it be read. Paths are taken from the folder of the script; "
        "another file is given with `--in NAME=PATH`.",
        "input x : f64[n] ← \"missing.csv\"\n+/x",
        "input x : f64[n] ← \"x.csv\"\n+/x",
        PageStage.RUN,
        (("x.csv", "1\n2\n3\n"),),
    ),
    Code.E705: Page(
        "The file exists but is damaged or is not what its name says: a cell that is not a number, rows of different lengths, a "
        "broken header.",
        "input x : f64[n 2] ← \"x.csv\"\n+⌿x",
        "input x : f64[n 2] ← \"y.csv\"\n+⌿x",
        PageStage.RUN,
        (("x.csv", "1,2\n3\n"), ("y.csv", "1,2\n3,4\n")),
    ),
    Code.E706: Page(
        "The file is sound, but its element type or its number of axes is not the declared one, or a fixed size differs.",
        "input x : f64[n 2] ← \"x.csv\"\n+⌿x",
        "input x : f64[n 3] ← \"x.csv\"\n+⌿x",
        PageStage.RUN,
        (("x.csv", "1,2,3\n4,5,6\n"),),
    ),
    Code.E707: Page(
        "Programs read and write only in the folder of the script and at paths given on the command line. Allow more with "
        "`--allow-read DIR` and `--allow-write DIR`. A URL is read only if `--allow-read` names it or a URL above it.",
        "input x : f64[n] ← \"/elsewhere/x.csv\"\n+/x",
        "input x : f64[n] ← \"x.csv\"\n+/x",
        PageStage.SHOWN,
    ),
    Code.E708: Page(
        "The result could not be written: the folder does not exist, the disk is full, or the system does not permit it. An "
        "output is either complete or absent; no partial file is left.",
        "x ← 1 2 3\noutput x",
        "x ← 1 2 3\noutput x",
        PageStage.SHOWN,
    ),
    Code.E709: Page(
        "There are three cases, and the message says which. `--max-time` stopped the program while it was loaded, planned, run "
        "or written (exit 5); nothing was printed. Or the program was refused before it ran (exit 4), because it may need more "
        "operations than this machine can do in that time. Or the planner had found no plan when its `--budget` ended "
        "(exit 5). Allow more time, or use smaller inputs or fewer steps.",
        "x ← 1 2 3\n+/x",
        "x ← 1 2 3\n+/x",
        PageStage.SHOWN,
    ),
    Code.E710: Page(
        "A graphics card, its driver or one of its libraries reported a failure, which the message quotes. Or a cluster has no "
        "workers, has another version of Rho, or lost too many workers (docs/clusters.md). Nothing was printed and no output was "
        "written. `rho info` lists the devices found. Without `--devices` and `--cluster` the program runs on this machine's "
        "processor.",
        "x ← 1 2 3\n+/x",
        "x ← 1 2 3\n+/x",
        PageStage.SHOWN,
    ),
    Code.BUG: Page(
        "The program is not at fault: Rho met a case that it does not handle, or `--verify` found a value that differs from the "
        "reference interpreter's (exit 70). A file that reproduces it is in the temporary folder and named in the message; "
        "please send it with a report. `RHO_KERNELS=off` runs without compiled code.",
        "x ← 1 2 3\n+/x",
        "x ← 1 2 3\n+/x",
        PageStage.SHOWN,
    ),
    Code.USAGE: Page(
        "An option, its value or the number of files is not what the command takes (exit 2). The message names the nearest "
        "option; `rho help COMMAND` lists them all.",
        "rho run mean.rho --uot y=y.npy",
        "rho run mean.rho --out y=y.npy",
        PageStage.SHOWN,
    ),
    Code.W201: Page(
        "The program needs a fact that only some sizes of the inputs satisfy. It is checked when the data is loaded, before "
        "anything is computed, and refused with E701 if it is false. With `--strict` it is an error; `where` on the input "
        "states it.",
        "input x : f64[n]\n2 _⍴x",
        "input x : f64[2 n]\nx",
    ),
    Code.W310: Page(
        "Nothing proves that this index is inside the axis, so every index is checked when the program runs (E310 if one is "
        "outside). Positions from `⍳`, `⍸`, `⍋` and `n|i` are proved and not checked.",
        "input x : f64[n]\ninput i : i64[k]\ni⌷x",
        "input x : f64[n]\ninput i : idx<n>[k]\ni⌷x",
    ),
    Code.W320: Page(
        "In other APLs `1 2⌷m` is one element of a matrix. In Rho the left argument of `⌷` selects major cells: these are "
        "rows 1 and 2. Write `m[1;2]` or `1 2⊃m` for the element; write `(⊂1 2)⌷m` or `m[1 2;]` for the rows.",
        "m ← 3 3⍴⍳9\n1 2⌷m",
        "m ← 3 3⍴⍳9\nm[1;2]",
    ),
    Code.W330: Page(
        "The ranges of all operands are known, and a result may be outside the range of its type; it would wrap. A u8 has the "
        "range of its type; i64 and i32 have a range if literals, positions or known sizes bound them; a param has none, "
        "whatever its `where` says. Data without known bounds gives no warning, and neither do functions on bits or `n|e`. "
        "`+/` of so many items is as many times their range. Convert one operand to a wider type.",
        "input x : u8[n]\n2×x",
        "input x : u8[n]\n2×i64 x",
    ),
    Code.W350: Page(
        "A function takes all that is on its right, so `x>0¿(a ⋄ b)` compares x with the choice of a literal, and one of "
        "the values is never taken, and `x=3 ∧ y>0` compares x with `3∧y>0`. Parentheses make the comparison the condition. "
        "Rows of text are padded to the longest, so `shop ≡⍤1 ⊢ 'Ulm'` is 0 for all of them unless the longest has three "
        "characters, and `shop ≡ 'Ulm'` always: `shop text.equals 'Ulm'` compares each row without its padding.",
        "x ← 3\nx>0¿(1 ⋄ 2)",
        "x ← 3\n(x>0)¿(1 ⋄ 2)",
    ),
    Code.W630: Page(
        "The function's value is the same whatever this argument is, or depends on it only through steps (`⌊`, `=`, `⍋`), whose "
        "derivative is 0 almost everywhere. The result is an array of zeros.",
        "{+/1.0×⌊⍵}∂1.5 2.5",
        "{+/⍵*2}∂1.5 2.5",
    ),
    Code.W340: Page(
        "`f⍣xs` with a vector folds: the state becomes `c f state` for each item c. In earlier versions a vector of one number "
        "was a count, and `⍴v` of a vector v is such a vector. For a count write a scalar, `⊃⍴v` or `≢v`, as the fix does.",
        "v ← 4 5 6\n{⍵+1}⍣(⍴v) ⊢ 0",
        "v ← 4 5 6\n{⍵+1}⍣(⊃⍴v) ⊢ 0",
    ),
}  # fmt: skip


# ------------------------------------------------------------------------------ SCHxxx: directives that no plan can meet, plans

def _schedule_page(explanation: str, failing: str, repaired: str) -> Page:
    return Page(explanation, failing, repaired, PageStage.SHOWN)


_PROGRAM = "input x : f64[n]\na ← x×2\nd ← x+1\na\nd\n"


def _block(*lines: str) -> str:
    return _PROGRAM + "schedule {\n" + "".join(f"  {line}\n" for line in lines) + "}"


SCHEDULE_PAGES: dict[str, Page] = {
    Code.SCH101: _schedule_page(
        "The directives listed cannot all be obeyed: they order values in a cycle, or place one value in two ways. Only "
        "directives that conflict are shown. Remove one of them.",
        _block("print a before d", "d before a"),
        _block("print a before d"),
    ),
    Code.SCH102: _schedule_page(
        "A value cannot be computed before the values it depends on. The message shows the directive and the chain of "
        "dependences that contradicts it.",
        _block("a before x"),
        _block("x before a"),
    ),
    Code.SCH103: _schedule_page(
        "The values that must be present at one time need more memory than the limits leave. The message says how many "
        "bytes are missing. Raise a limit, add a device, or allow the value to be split.",
        _block("limit memory cpu0 1KB"),
        _block("limit memory cpu0 200MB"),
    ),
    Code.SCH104: _schedule_page(
        "The value is placed on a kind of device that cannot compute it: its profile has no table for the operation and the "
        "element type (docs/devices.md).",
        "input x : f64[n]\na ← ⍕x\na\nschedule {\n  place a on gpu\n}",
        "input x : f64[n]\na ← ⍕x\na\nschedule {\n  place a on cpu\n}",
    ),
    Code.SCH105: _schedule_page(
        "Inputs, printing and outputs happen on the home device, where the files and the screen are.",
        _block("place print on gpu"),
        _block("place a on gpu"),
    ),
    Code.SCH106: _schedule_page(
        "No plan meets the deadline or the limit. The message gives a lower bound that holds for every plan, or says along "
        "which axes.",
        _block("deadline 1ns"),
        _block("deadline 1s"),
    ),
    Code.SCH107: _schedule_page(
        "The schedule names a value that the program does not define, or a device that the profile does not have. The message "
        "offers a similar name.",
        _block("place aa on gpu"),
        _block("place a on gpu"),
    ),
    Code.SCH201: _schedule_page(
        "The name is bound more than once, so it is not clear which value is meant; the message shows each. Use different "
        "names.",
        "a ← 1 2 3\na ← a×2\na\nschedule {\n  place a on cpu\n}",
        "a ← 1 2 3\nb ← a×2\nb\nschedule {\n  place b on cpu\n}",
    ),
    Code.SCH202: _schedule_page(
        "A kind such as `gpu` leaves the choice of device open. A value that stays on a device needs one device: name it, "
        "`gpu0`.",
        _block("split a rows over gpu0 gpu1", "keep a on gpu"),
        _block("split a rows over gpu0 gpu1"),
    ),
    Code.SCH203: _schedule_page(
        "Both values are cut into shards, and `before` is read as: all shards of the first are done before any of the "
        "second starts.",
        _block("split a rows over gpu0 gpu1", "split d rows over gpu0 gpu1", "a before d"),
        _block("split a rows over gpu0 gpu1", "split d rows over gpu0 gpu1"),
    ),
    Code.SCH204: _schedule_page(
        "`--objective` of the command takes the place of every `minimize` in the script. Leave the option out to plan for what "
        "the script says.",
        "⍝ rho plan p.rho --objective energy\nschedule { minimize latency }\n1+1",
        "⍝ rho plan p.rho\nschedule { minimize latency }\n1+1",
    ),
    Code.SCH301: _schedule_page(
        "The plan was made for another program, other sizes or another machine; the message says which field differs. Make "
        "it again with `rho plan`.",
        "⍝ rho run p.rho --plan old.json\n1+1",
        "⍝ rho plan p.rho -o new.json, then rho run p.rho --plan new.json\n1+1",
    ),
    Code.SCH302: _schedule_page(
        "The search stopped at its budget with a plan and a lower bound that do not meet; the gap is shown. It is a note, "
        "and an error only with `--require-optimal`. `--prove` searches without limit.",
        "⍝ rho plan p.rho --require-optimal --fast\n1+1",
        "⍝ rho plan p.rho --prove\n1+1",
    ),
    Code.SCH303: _schedule_page(
        "This is a bug in Rho, not in the program. A strategy of the planner failed, or made a plan that the verifier refused. "
        "The best plan of the other strategies is used, and it is valid. Please report the notes, which say what failed.",
        "⍝ rho plan p.rho\n1+1",
        "⍝ rho plan p.rho --fast, which searches less\n1+1",
    ),
}  # fmt: skip

PAGES: dict[str, Page] = {**_SYNTAX, **_VALUES, **_SHAPES, **_RUNNING, **SCHEDULE_PAGES}
