"""Rows of the functions on whole arrays and cells (language.md, Primitives)."""

from __future__ import annotations

from .primitives_record import CellRank, Example, Primitive, Role, Trait, Use

RUN, LEFT, RIGHT = Trait.RUN_TIME_SIZE, Trait.STATIC_LEFT, Trait.STATIC_RIGHT


def _one(
    name: str, type_: str, doc: str, *examples: Example,
    ranks: tuple[CellRank, ...] = (None,), laws: tuple[str, ...] = (), kind: tuple[Trait, ...] = (),
) -> Use:  # fmt: skip
    return Use(name, doc, ranks, examples, type=type_, laws=laws, traits=frozenset(kind))


def _two(
    name: str, type_: str, doc: str, *examples: Example,
    ranks: tuple[CellRank, ...] = (None, None), laws: tuple[str, ...] = (), kind: tuple[Trait, ...] = (),
) -> Use:  # fmt: skip
    return Use(name, doc, ranks, examples, type=type_, laws=laws, traits=frozenset(kind))


def _row(glyph: str, names: str, key: str | None, monadic: Use | None, dyadic: Use | None) -> Primitive:
    return Primitive(glyph, tuple(names.split()), key, Role.FUNCTION, monadic, dyadic)


ARRAY_FUNCTIONS: tuple[Primitive, ...] = (
    _row(
        "≡", "match depth", ":",
        _one(
            "depth", "≡T[s] : 0 or 1", "0 for a scalar, else 1, a static size: arrays do not nest.", ("≡5 6 7", "1"), ("≡5", "0"),
        ),
        _two(
            "match", "any ≡ any : bool", "Same shape and equal elements?", ("1 2 3≡1 2 3", "1"), ("1 2≡1 2 3", "0"),
            laws=("x≡x",),
        ),
    ),
    _row(
        "≢", "notmatch tally", '"',
        _one(
            "tally", "≢T[n s] : n", "The length of the first axis (1 for a scalar), a static size.", ("≢5 6 7", "3"),
            ("≢3 2⍴0", "3"), laws=("(≢x)≡⊃⍴x",),
        ),
        _two(
            "not match", "any ≢ any : bool", "Do the shapes or some elements differ?", ("'ab'≢'abc'", "1"), ("5≢5", "0"),
            laws=("(x≢y)≡~x≡y",),
        ),
    ),
    _row(
        "⍴", "rho shape reshape", "r",
        _one(
            "shape", "⍴T[s] : s as a vector", "The lengths of the axes, a static vector.", ("⍴2 3⍴0", "2 3"), ("⍴5 6 7", "3"),
            laws=("(≢⍴m)≡2",),
        ),
        _two(
            "reshape", "s ⍴ T[u] : T[s]",
            "⍵'s elements in order, arranged in shape ⍺, repeated or cut off as needed; one `_` slot is inferred.",
            ("2 3⍴⍳6", "0 1 2\n3 4 5"), ("5⍴1 2", "1 2 1 2 1"), ("3 _⍴⍳6", "0 1\n2 3\n4 5"), laws=("m≡(⍴m)⍴,m",),
            kind=(LEFT,),
        ),
    ),
    _row(
        ",", "ravel catenate comma", None,
        _one(
            "ravel", ",T[s] : T[×/s]", "All elements in row-major order as a vector.", (",2 2⍴⍳4", "0 1 2 3"), laws=("x≡,x",),
        ),
        _two(
            "join", "T[s n] , T[s m] : T[s n+m]", "Join along the last axis; an argument of one rank less is one cell.",
            ("1 2,3 4", "1 2 3 4"), ("(2 2⍴⍳4),8 9", "0 1 8\n2 3 9"), ("'ab','c'", "abc"),
            laws=("(x,y,z)≡(x,y),z", "(≢x,y)≡(≢x)+≢y"),
        ),
    ),
    _row(
        "⍪", "table catenatefirst", "<",
        _one(
            "table", "⍪T[n s] : T[n ×/s]", "A matrix whose rows are the ravelled major cells.", ("⍪1 2 3", "1\n2\n3"),
            laws=("x≡,⍪x",),
        ),
        _two(
            "join first", "T[n s] ⍪ T[m s] : T[n+m s]", "Join along the first axis; an argument of one rank less is one cell.",
            ("(2 2⍴⍳4)⍪8 9", "0 1\n2 3\n8 9"), ("1 2⍪3", "1 2 3"), laws=("(m⍪m)≡⍉(⍉m),⍉m",),
        ),
    ),
    _row(
        "⌽", "reverse rotate", "%",
        _one(
            "reverse", "⌽T[s] : T[s]", "Reverse along the last axis.", ("⌽1 2 3", "3 2 1"), laws=("m≡⌽⌽m", "(⌽x,y)≡(⌽y),⌽x"),
        ),
        _two(
            "rotate", "k ⌽ T[s] : T[s]", "Rotate left by ⍺ along the last axis; a vector ⍺ has one count a row.",
            ("1⌽1 2 3 4", "2 3 4 1"), ("¯1⌽1 2 3 4", "4 1 2 3"), ("0 1⌽2 2⍴⍳4", "0 1\n3 2"), laws=("x≡¯1⌽1⌽x",),
        ),
    ),
    _row(
        "⊖", "reversefirst rotatefirst", "&",
        _one(
            "reverse first", "⊖T[n s] : T[n s]", "Reverse along the first axis.", ("⊖2 2⍴⍳4", "2 3\n0 1"),
            laws=("m≡⊖⊖m", "(⊖m)≡⍉⌽⍉m"),
        ),
        _two(
            "rotate first", "k ⊖ T[n s] : T[n s]", "Rotate up by ⍺ along the first axis.", ("1⊖3 2⍴⍳6", "2 3\n4 5\n0 1"),
            laws=("m≡¯1⊖1⊖m",),
        ),
    ),
    _row(
        "⍉", "transpose", "^",
        _one(
            "transpose", "⍉T[n m] : T[m n]", "The axes in reverse order.", ("⍉2 3⍴⍳6", "0 3\n1 4\n2 5"), laws=("m≡⍉⍉m",),
        ),
        _two(
            "reorder axes", "p ⍉ T[s] : T[s′]",
            "Axis i of ⍵ becomes axis i⊃⍺ of the result; a repeated number takes the diagonal.",
            ("1 0⍉2 3⍴⍳6", "0 3\n1 4\n2 5"), ("0 0⍉2 2⍴⍳4", "0 3"), laws=("(⍉m)≡1 0⍉m",), kind=(LEFT,),
        ),
    ),
    _row(
        "↑", "take mix", "y",
        _one(
            "mix", "↑T[s] : T[s]", "Text strands become a matrix, padded with blanks on the right; anything else is itself.",
            ("⍴↑'ab' 'cde'", "2 3"), ("↑1 2 3", "1 2 3"), laws=("x≡↑x",),
        ),
        _two(
            "take", "k ↑ T[n s] : T[k s]",
            "The first |⍺| major cells, the last ones for a negative ⍺, with fills beyond the end; a vector takes along "
            "several axes.",
            ("2↑5 6 7", "5 6"), ("¯2↑5 6 7", "6 7"), ("5↑1 2 3", "1 2 3 0 0"), ("2 2↑3 3⍴⍳9", "0 1\n3 4"), laws=("x≡(≢x)↑x",),
            kind=(LEFT,),
        ),
    ),
    _row(
        "↓", "drop", "u",
        _one(
            "identity", "↓T[s] : T[s]", "The argument itself: a list of rows is the matrix.", ("↓1 2 3", "1 2 3"),
            laws=("x≡↓x",),
        ),
        _two(
            "drop", "k ↓ T[n s] : T[0⌈n-k s]", "Without the first ⍺ major cells, the last ones for a negative ⍺.",
            ("2↓1 2 3 4", "3 4"), ("¯1↓1 2 3", "1 2"), laws=("x≡(1↑x),1↓x",), kind=(LEFT,),
        ),
    ),
    _row(
        "⊃", "first pick disclose", "x",
        _one("first", "⊃T[s] : T", "The first element; the array must not be empty.", ("⊃5 6 7", "5"), laws=("(⊃x)≡0⌷x",)),
        _two(
            "pick", "i ⊃ T[s] : T[s′]", "Index each leading axis by the next item of ⍺.", ("1⊃5 6 7", "6"), ("1 0⊃2 2⍴⍳4", "2"),
            laws=("(⊃x)≡0⊃x",),
        ),
    ),
    _row(
        "⌷", "squad index", "L",
        _one("materialise", "⌷T[s] : T[s]", "The argument itself.", ("⌷5 6 7", "5 6 7"), laws=("x≡⌷x",)),
        _two(
            "select cells", "i[u] ⌷ T[n s] : T[u s]", "The major cells of ⍵ at the positions ⍺.", ("2 0⌷5 6 7", "7 5"),
            ("1⌷2 2⍴⍳4", "2 3"), laws=("x≡(⍳≢x)⌷x",),
        ),
    ),
    _row(
        "⍳", "iota indexof", "i",
        _one(
            "iota", "⍳n : idx<n>[n]", "The first n positions; a vector gives every position of that box.", ("⍳5", "0 1 2 3 4"),
            ("⍳2 2", "0 0\n0 1\n\n1 0\n1 1"), laws=("(≢⍳5)≡5",), kind=(RIGHT,),
        ),
        _two(
            "index of", "T[n s] ⍳ T[u s] : i64[u]",
            "Where each cell of ⍵ first occurs among the major cells of ⍺; n when it does not.", ("5 6 7⍳7 9", "2 3"),
            ("'abc'⍳'cab'", "2 0 1"), laws=("x≡(x⍳x)⌷x",),
        ),
    ),
    _row(
        "⍸", "where intervalindex iotabar", "I",
        _one(
            "where", "⍸bool[n] : idx<n>[k≤n]", "The positions that hold; one row a position when the mask has rank above 1.",
            ("⍸0 1 0 1", "1 3"), laws=("(≢⍸b)≡+/b",), kind=(RUN,),
        ),
        _two(
            "interval index", "T[n] ⍸ T[u] : i64[u]",
            "Which interval of the sorted ⍺ each item of ⍵ falls in: how many of ⍺ are at most it, less one.  None are at most "
            "NaN, which sorts put last.",
            ("10 20 30⍸5 10 25", "¯1 0 1"), ranks=(1, 0),
        ),
    ),
    _row(
        "∊", "member epsilon in enlist", "e",
        _one(
            "enlist", "∊T[s] : T[×/s]", "All elements in row-major order as a vector, as `,`.", ("∊2 2⍴⍳4", "0 1 2 3"),
            laws=("x≡∊x",),
        ),
        _two(
            "member of", "T[u] ∊ T[s] : bool[u]", "Does each element of ⍺ occur in ⍵?", ("1 9∊1 2 3", "1 0"),
            ("'cab'∊'abd'", "0 1 1"), laws=("∧/x∊x",),
        ),
    ),
    _row(
        "⍷", "find", "E", None,
        _two(
            "find", "T[u] ⍷ T[s] : bool[s]", "Where the pattern ⍺ starts inside ⍵.", ("'an'⍷'banana'", "0 1 0 1 0 0"),
            laws=("⊃x⍷x",),
        ),
    ),
    _row(
        "⍋", "gradeup", "$",
        _one(
            "grade up", "⍋T[n s] : perm<n>",
            "The permutation that sorts the major cells upwards; equal cells keep their order.", ("⍋3 1 2", "1 2 0"),
            laws=("(⍋x)≡⍋⍋⍋x",),
        ),
        _two(
            "collate up", "char[k] ⍋ char[n s] : perm<n>", "Grade text up by the order of the characters in ⍺.",
            ("'cba'⍋'abc'", "2 1 0"),
        ),
    ),
    _row(
        "⍒", "gradedown", "#",
        _one(
            "grade down", "⍒T[n s] : perm<n>",
            "The permutation that sorts the major cells downwards; equal cells keep their order.", ("⍒3 1 2", "0 2 1"),
            laws=("((⍒x)⌷x)≡⌽(⍋x)⌷x",),
        ),
        _two(
            "collate down", "char[k] ⍒ char[n s] : perm<n>", "Grade text down by the order of the characters in ⍺.",
            ("'cba'⍒'abc'", "0 1 2"),
        ),
    ),
    _row(
        "∪", "unique union", "v",
        _one(
            "unique", "∪T[n s] : T[k≤n s]", "The distinct major cells, in order of first occurrence.", ("∪3 1 3 2", "3 1 2"),
            ("∪'banana'", "ban"), laws=("(∪x)≡∪∪x",), kind=(RUN,),
        ),
        _two(
            "union", "T[n s] ∪ T[m s] : T[k≤n+m s]", "⍺, then the major cells of ⍵ that are not in it.", ("1 2∪2 3", "1 2 3"),
            laws=("x≡x∪x",), kind=(RUN,),
        ),
    ),
    _row(
        "∩", "intersection", "c", None,
        _two(
            "intersection", "T[n s] ∩ T[m s] : T[k≤n s]", "The major cells of ⍺ that are in ⍵.", ("1 2 3∩2 3 4", "2 3"),
            laws=("x≡x∩x",), kind=(RUN,),
        ),
    ),
    _row(
        "/", "compress replicate", None, None,
        _two(
            "compress", "bool[n] / T[s n] : T[s k≤n]",
            "Keep the items along the last axis where the mask holds; literal counts repeat them and a negative count "
            "inserts fills.",
            ("1 0 1/5 6 7", "5 7"), ("2 0 1/5 6 7", "5 5 7"), laws=("(b/x)≡b⌿x", "x≡1/x"), kind=(RUN,),
        ),
    ),
    _row(
        "⌿", "compressfirst replicatefirst", None, None,
        _two(
            "compress first", "bool[n] ⌿ T[n s] : T[k≤n s]", "Keep the major cells where the mask holds.",
            ("1 0 1⌿3 2⍴⍳6", "0 1\n4 5"), laws=("(+/b)≡≢b⌿x",), kind=(RUN,),
        ),
    ),
    _row(
        "\\", "expand", None, None,
        _two(
            "expand", "bool[m] \\ T[s n] : T[s m]",
            "Items along the last axis go where the mask holds, fills elsewhere; the mask holds n times.",
            ("1 0 1\\5 6", "5 0 6"), laws=("(b/x)≡b/b\\b/x",),
        ),
    ),
    _row(
        "⍀", "expandfirst", None, None,
        _two(
            "expand first", "bool[m] ⍀ T[n s] : T[m s]", "Major cells go where the mask holds, fills elsewhere.",
            ("1 0 1⍀2 2⍴1+⍳4", "1 2\n0 0\n3 4"),
        ),
    ),
    _row(
        "⊥", "decode base", "b", None,
        _two(
            "decode", "r[n] ⊥ T[n s] : T[s]", "The value of the digits ⍵ in the mixed radix ⍺; u8 and i32 give i64, as in `+.×`.",
            ("10 10 10⊥1 2 3", "123"), ("2⊥1 0 1", "5"), ("10⊥u8 9 9 9", "999"), ("24 60⊥1 40", "100"),
        ),
    ),
    _row(
        "⊤", "encode", "n", None,
        _two(
            "encode", "r[u] ⊤ T[s] : T[u s]", "The digits of ⍵ in the mixed radix ⍺, along a new first axis.",
            ("2 2 2⊤5", "1 0 1"), ("24 60⊤100", "1 40"),
        ),
    ),
    _row(
        "⌹", "domino inverse solve", "+",
        _one(
            "matrix inverse", "⌹f64[n n] : f64[n n]", "The inverse, or the pseudo-inverse of a tall matrix.",
            ("⌹2 2⍴2 0 0 1", "0.5 0\n0   1"), ranks=(2,),
        ),
        _two(
            "solve", "f64[n] ⌹ f64[n m] : f64[m]", "The x with ⍵ +.× x nearest to ⍺ (least squares).",
            ("4 6⌹2 2⍴2 0 0 3", "2 2"),
        ),
    ),
    _row(
        "¿", "choose", "Q", None,
        _two(
            "select", "bool[u] ¿ (T[s] ⋄ T[s]) : T[s]",
            "Elements of the first where the mask holds, of the second elsewhere. Both are computed: it chooses items and skips "
            "no work. A guard in a dfn, `{c : a ⋄ b}`, computes only what it needs.",
            ("1 0 1¿(1 2 3 ⋄ 10 20 30)", "1 20 3"), laws=("x≡b¿(x ⋄ x)",), ranks=(0, 0),
        ),
    ),
    _row(
        "?", "random roll deal", "q", None,
        _two(
            "random", "key ? s : f64[s]", "Uniform numbers in 0 to 1 made from the key; the same key gives the same numbers.",
            ("⍴7?2 3", "2 3"), ("(7?4)≡7?4", "1"), kind=(RIGHT,),
        ),
    ),
    _row(
        "↕", "windows", "Y", None,
        _two(
            "windows", "k ↕ T[n s] : T[(n-k)+1 k s]",
            "All runs of ⍺ neighbouring major cells, 1 ≤ ⍺ ≤ n; a vector windows several axes.", ("2↕1 2 3 4", "1 2\n2 3\n3 4"),
            laws=("(2+/x,0)≡+/2↕x,0",), kind=(LEFT,),
        ),
    ),
    _row(
        "⊣", "left", "|",
        _one("identity", "⊣T[s] : T[s]", "The argument.", ("⊣5", "5"), laws=("x≡⊣x",)),
        _two("left", "T[s] ⊣ any : T[s]", "The left argument.", ("1⊣2", "1"), laws=("x≡x⊣y",)),
    ),
    _row(
        "⊢", "right", "\\",
        _one(
            "identity", "⊢T[s] : T[s]", "The argument; also separates an operand from an argument, as in `f⍤1 ⊢ x`.",
            ("⊢5", "5"), laws=("x≡⊢x",),
        ),
        _two("right", "any ⊢ T[s] : T[s]", "The right argument.", ("1⊢2", "2"), laws=("y≡x⊢y",)),
    ),
    _row(
        "⍕", "format thorn", "'",
        _one(
            "format", "⍕any : text",
            "The text of a value as it prints, with ten digits whatever `--digits` says; only in printed or output text.",
            ("⍕1 2 3", "1 2 3"), kind=(RUN,),
        ),
        None,
    ),
    _row(
        "⊂", "enclose", "z",
        _one(
            "enclose", "⊂i[u] left of ⌷",
            "Left of `⌷`, where `(⊂I)⌷x` is `I⌷x`, and beside `¨`, where `(⊂x)f¨y` is x with each element: arrays do not nest.",
            ("(⊂2 0)⌷5 6 7", "7 5"),
        ),
        None,
    ),
)  # fmt: skip
