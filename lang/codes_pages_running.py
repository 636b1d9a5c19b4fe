"""Pages of E6xx, E7xx and the warnings: termination, loading, running.  Loaded by `lang.codes` when asked for."""

from __future__ import annotations

from .codes import Code
from .codes_record import Page, Stage

PAGES: dict[str, Page] = {
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
        "Functions are expanded at every call. A chain of functions that each call the one before twice doubles at every "
        "step and soon reaches the limit of a million operations. Give the middle functions signatures, or use a loop `⍣`.",
        "g0 ← {⍵+1}\n" + "\n".join(f"g{i} ← {{g{i - 1} g{i - 1} ⍵}}" for i in range(1, 25)) + "\ng24 0",
        "{⍵+1}⍣1000 ⊢ 0",
    ),
    Code.E620: Page(
        "The language has this, but this version of Rho cannot run it yet.",
        "{+/⍵*2}∂1 2 3",
        "2×1 2 3",
    ),
    Code.E701: Page(
        "The program needs a fact about the sizes of its data, and the data that was loaded breaks it. The message shows "
        "the fact with its numbers and the place that needs it. `rho check` reports such facts as W201.",
        "input x : f64[n] ← \"x.csv\"\n2 _⍴x",
        "input x : f64[n] ← \"x.csv\"\n1 _⍴x",
        Stage.RUN,
        (("x.csv", "1\n2\n3\n"),),
    ),
    Code.E702: Page(
        "The largest amount of memory a program needs is known before it runs, and it is more than the device or "
        "`--max-memory` allows. The message names the largest arrays with their sizes. Nothing has been computed yet.",
        "x ← 1000000 1000000⍴1.5\n+/,x∘.+1 2",
        "x ← 1000 100⍴1.5\n+/,x∘.+1 2",
        Stage.SHOWN,
    ),
    Code.E703: Page(
        "A conversion met a value that its type cannot hold: a fraction or a large number made into an integer, a number "
        "other than 0 and 1 made into a bool. Use `⌊` or `⌈` for fractions, or a wider type.",
        "u8 200 + 100",
        "i64 200 + 100",
        Stage.RUN,
    ),
    Code.E704: Page(
        "The file does not exist or the system does not let it be read. Paths are taken from the folder of the script; "
        "another file is given with `--in NAME=PATH`.",
        "input x : f64[n] ← \"missing.csv\"\n+/x",
        "input x : f64[n] ← \"x.csv\"\n+/x",
        Stage.RUN,
        (("x.csv", "1\n2\n3\n"),),
    ),
    Code.E705: Page(
        "The file exists but is damaged or is not what its name says: a cell that is not a number, rows of different lengths, a "
        "broken header.",
        "input x : f64[n 2] ← \"x.csv\"\n+⌿x",
        "input x : f64[n 2] ← \"y.csv\"\n+⌿x",
        Stage.RUN,
        (("x.csv", "1,2\n3\n"), ("y.csv", "1,2\n3,4\n")),
    ),
    Code.E706: Page(
        "The file is sound, but its element type or its number of axes is not the declared one, or a fixed size differs.",
        "input x : f64[n 2] ← \"x.csv\"\n+⌿x",
        "input x : f64[n 3] ← \"x.csv\"\n+⌿x",
        Stage.RUN,
        (("x.csv", "1,2,3\n4,5,6\n"),),
    ),
    Code.E707: Page(
        "Programs read and write only in the folder of the script and at paths given on the command line. Allow more with "
        "`--allow-read DIR` and `--allow-write DIR`. A URL is read only if `--allow-read` names it or a URL above it.",
        "input x : f64[n] ← \"/elsewhere/x.csv\"\n+/x",
        "input x : f64[n] ← \"x.csv\"\n+/x",
        Stage.SHOWN,
    ),
    Code.E708: Page(
        "The result could not be written: the folder does not exist, the disk is full, or the system does not permit it. An "
        "output is either complete or absent; no partial file is left.",
        "x ← 1 2 3\noutput x",
        "x ← 1 2 3\noutput x",
        Stage.SHOWN,
    ),
    Code.E709: Page(
        "There are three cases, and the message says which. `--max-time` stopped the program while it was loaded, planned, run "
        "or written (exit 5); nothing was printed. Or the program was refused before it ran (exit 4), because it may need more "
        "operations than this machine can do in that time. Or the planner had found no plan when its `--budget` ended "
        "(exit 5). Allow more time, or use smaller inputs or fewer steps.",
        "x ← 1 2 3\n+/x",
        "x ← 1 2 3\n+/x",
        Stage.SHOWN,
    ),
    Code.E710: Page(
        "A graphics card, its driver or one of its libraries reported a failure, which the message quotes. Or a cluster has no "
        "workers, has another version of Rho, or lost too many workers (docs/clusters.md). Nothing was printed and no output was "
        "written. `rho info` lists the devices found. Without `--devices` and `--cluster` the program runs on this machine's "
        "processor.",
        "x ← 1 2 3\n+/x",
        "x ← 1 2 3\n+/x",
        Stage.SHOWN,
    ),
    Code.BUG: Page(
        "The program is not at fault: Rho met a case that it does not handle, or `--verify` found a value that differs from the "
        "reference interpreter's (exit 70). A file that reproduces it is in the temporary folder and named in the message; "
        "please send it with a report. `RHO_KERNELS=off` runs without compiled code.",
        "x ← 1 2 3\n+/x",
        "x ← 1 2 3\n+/x",
        Stage.SHOWN,
    ),
    Code.USAGE: Page(
        "An option, its value or the number of files is not what the command takes (exit 2). The message names the nearest "
        "option; `rho help COMMAND` lists them all.",
        "rho run mean.rho --uot y=y.npy",
        "rho run mean.rho --out y=y.npy",
        Stage.SHOWN,
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
        "range of its type; i64 and i32 have a range if literals, sizes, params or positions bound them. Data without known "
        "bounds gives no warning, and neither do functions on bits or `n|e`. `+/` of so many items is as many times their range. "
        "Convert one operand to a wider type.",
        "input x : u8[n]\n2×x",
        "input x : u8[n]\n2×i64 x",
    ),
    Code.W340: Page(
        "`f⍣xs` with a vector folds: the state becomes `c f state` for each item c. In earlier versions a vector of one number "
        "was a count, and `⍴v` of a vector v is such a vector. For a count write a scalar, `⊃⍴v` or `≢v`, as the fix does.",
        "v ← 4 5 6\n{⍵+1}⍣(⍴v) ⊢ 0",
        "v ← 4 5 6\n{⍵+1}⍣(⊃⍴v) ⊢ 0",
    ),
}  # fmt: skip
