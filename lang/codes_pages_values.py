"""Pages of E3xx–E5xx: elements, indices, sizes known at run time, quantities.  Loaded by `lang.codes` when asked for."""

from __future__ import annotations

from .codes import Code
from .codes_record import Page

PAGES: dict[str, Page] = {
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
        "`≢` and `⍴`, arithmetic on these, and from counts such as `+/mask`, which have a bound.",
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
