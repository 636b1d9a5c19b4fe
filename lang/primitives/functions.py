"""Rows of the primitive functions: elementwise functions, array functions, conversions and library (`⎕`) functions."""

from __future__ import annotations

from .record import CellRank, Example, GlyphRole, Primitive, PrimitiveUse, Trait, traits

# ---------------------------------------------------------------------------------------------------- elementwise functions

SCALAR = Trait.SCALAR
COMPARE = traits(SCALAR, Trait.COMPARISON)
FLOAT = traits(SCALAR, Trait.FLOAT_RESULT)


def _scalar_monad(name: str, doc: str, *examples: Example, laws: tuple[str, ...] = (),
    kind: frozenset[Trait] = traits(SCALAR)) -> PrimitiveUse:
    return PrimitiveUse(name, doc, (0,), examples, laws=laws, traits=kind)


def _scalar_dyad(
    name: str,
    doc: str,
    *examples: Example,
    identity: int | None = None,
    laws: tuple[str, ...] = (),
    kind: frozenset[Trait] = traits(SCALAR),
) -> PrimitiveUse:
    return PrimitiveUse(name, doc, (0, 0), examples, identity=identity, laws=laws, traits=kind)


def _scalar_row(glyph: str, names: str, key: str | None, monadic: PrimitiveUse | None, dyadic: PrimitiveUse | None) -> Primitive:
    return Primitive(glyph, tuple(names.split()), key, GlyphRole.FUNCTION, monadic, dyadic)


SCALAR_FUNCTIONS: tuple[Primitive, ...] = (
    _scalar_row(
        "+", "plus add conjugate", None,
        _scalar_monad("conjugate", "The complex conjugate; a real number is itself.", ("+3J4", "3J¯4"), ("+5", "5"),
        laws=("x≡+x",)),
        _scalar_dyad(
            "add", "The sum.", ("2+3", "5"), ("1 2 3+10", "11 12 13"), ("(2 3⍴⍳6)+10 20", "10 11 12\n23 24 25"), identity=0,
            laws=("(x+y)≡y+x", "(x+y+z)≡(x+y)+z", "x≡x+0"),
        ),
    ),
    _scalar_row(
        "-", "minus subtract negate", None,
        _scalar_monad("negate", "Zero minus the argument.", ("-3 ¯4", "¯3 4"), laws=("x≡--x",)),
        _scalar_dyad("subtract", "The difference.", ("5-3", "2"), ("1 2 3-1", "0 1 2"), identity=0, laws=("(x-y)≡x+-y",)),
    ),
    _scalar_row(
        "×", "times multiply sign signum", "-",
        _scalar_monad(
            "sign", "¯1, 0 or 1; for a complex number the unit number in its direction.", ("×¯5 0 5", "¯1 0 1"),
            laws=("x≡(×x)×|x",),
        ),
        _scalar_dyad(
            "multiply", "The product.", ("3×4", "12"), ("1 2 3×2", "2 4 6"), identity=1,
            laws=("(x×y)≡y×x", "(x×y×z)≡(x×y)×z", "(x×y+z)≡(x×y)+x×z"),
        ),
    ),
    _scalar_row(
        "÷", "divide reciprocal", "=",
        _scalar_monad("reciprocal", "One divided by the argument, as a float.", ("÷4", "0.25"), kind=FLOAT),
        _scalar_dyad(
            "divide", "The quotient, as a float; division by zero follows IEEE.", ("10÷4", "2.5"), ("6 9÷3", "2 3"), identity=1,
            kind=FLOAT,
        ),
    ),
    _scalar_row(
        "*", "power exp", "p",
        _scalar_monad("exponential", "e to the power of the argument.", ("*0", "1"), ("*1", "2.718281828"), kind=FLOAT),
        _scalar_dyad(
            "power", "⍺ to the power of ⍵; integers stay integers when the exponent is a static natural number.",
            ("2*10", "1024"), ("2*¯1", "0.5"), ("9*0.5", "3"), identity=1,
        ),
    ),
    _scalar_row(
        "⍟", "log ln", "*",
        _scalar_monad(
            "natural logarithm", "The logarithm to base e; NaN for negative reals (write `⍟c128 x`).", ("⍟1", "0"), kind=FLOAT,
        ),
        _scalar_dyad("logarithm", "The logarithm of ⍵ to base ⍺.", ("10⍟100", "2"), ("2⍟8", "3"), kind=FLOAT),
    ),
    _scalar_row(
        "√", "sqrt root", "R",
        _scalar_monad("square root", "The square root; NaN for negative reals.", ("√16", "4"), ("√2", "1.414213562"), kind=FLOAT),
        _scalar_dyad("root", "The ⍺-th root of ⍵.", ("3√27", "3"), kind=FLOAT),
    ),
    _scalar_row(
        "⌊", "floor min minimum", "d",
        _scalar_monad("floor", "The largest integer not above the argument, as i64.", ("⌊2.7 ¯2.5", "2 ¯3"), laws=("x≡⌊x+0.5",)),
        _scalar_dyad(
            "minimum", "The smaller of the two.", ("3⌊5", "3"), ("1 5 3⌊2", "1 2 2"), laws=("(x⌊y)≡y⌊x", "x≡x⌊x"),
        ),
    ),
    _scalar_row(
        "⌈", "ceiling max maximum ceil", "s",
        _scalar_monad("ceiling", "The smallest integer not below the argument, as i64.", ("⌈1.5 ¯1.5", "2 ¯1"),
        laws=("(⌈x)≡-⌊-x",)),
        _scalar_dyad(
            "maximum", "The larger of the two.", ("3⌈5", "5"), ("2⌈1 3", "2 3"), laws=("(x⌈y)≡y⌈x", "(x⌈y)≡-(-x)⌊-y"),
        ),
    ),
    _scalar_row(
        "|", "stile abs magnitude residue", "m",
        _scalar_monad("magnitude", "The absolute value.", ("|¯3 4", "3 4"), ("|3J4", "5"), laws=("(|x)≡x⌈-x",)),
        _scalar_dyad(
            "residue", "What is left of ⍵ after dividing by ⍺, with the sign of ⍺; `0|⍵` is ⍵.", ("3|7", "1"),
            ("¯3|1 2 3 4", "¯2 ¯1 0 ¯2"), ("3|¯1", "2"), identity=0, laws=("(5|x+y)≡5|(5|x)+5|y",),
        ),
    ),
    _scalar_row(
        "!", "factorial binomial", "_",
        _scalar_monad("factorial", "Gamma of one plus the argument.", ("!5", "120"), ("!0.5", "0.8862269255"), kind=FLOAT),
        _scalar_dyad("binomial", "How many ways to choose ⍺ out of ⍵.", ("2!5", "10"), ("3!100", "161700"), identity=1,
        kind=FLOAT),
    ),
    _scalar_row(
        "○", "circle pitimes", "o",
        _scalar_monad("pi times", "π multiplied by the argument.", ("○1", "3.141592654"), kind=FLOAT),
        PrimitiveUse(
            "circular",
            "The circular function numbered ⍺ (a literal ¯12…12): 1 sine, 2 cosine, 3 tangent, 5 6 7 hyperbolic, negative: "
            "inverse, 9 11 real and imaginary part, 10 magnitude, 12 phase.",
            (0, 0), (("1○0", "0"), ("2○○1", "¯1"), ("¯3○1", "0.7853981634"), ("9○3J4", "3")),
            traits=traits(SCALAR, Trait.FLOAT_RESULT, Trait.STATIC_LEFT),
        ),
    ),
    _scalar_row(
        "~", "not without tilde", "t",
        _scalar_monad("not", "1 for 0 and 0 for 1.", ("~1 0", "0 1"), laws=("b≡~~b",)),
        PrimitiveUse(
            "without", "The major cells of ⍺ that are not in ⍵.", (None, None),
            (("1 2 3 4~2 4", "1 3"), ("'banana'~'a'", "bnn")), type="T[n s] ~ T[m s] : T[k≤n s]", laws=("(x~x)≡0↑x",),
            traits=traits(Trait.RUN_TIME_SIZE),
        ),
    ),
    _scalar_row(
        "∧", "and lcm", "0", None,
        _scalar_dyad(
            "and / least common multiple", "Both hold; for numbers the least common multiple.", ("1 1 0∧1 0 0", "1 0 0"),
            ("12∧18", "36"), identity=1, laws=("(b∧c)≡c∧b", "b≡b∧1", "(~b∧c)≡(~b)∨~c"),
        ),
    ),
    _scalar_row(
        "∨", "or gcd", "9", None,
        _scalar_dyad(
            "or / greatest common divisor", "Either holds; for numbers the greatest common divisor.", ("1 1 0∨1 0 0", "1 1 0"),
            ("12∨18", "6"), identity=0, laws=("(b∨c)≡c∨b", "b≡b∨0"),
        ),
    ),
    _scalar_row(
        "⍲", "nand", ")", None,
        _scalar_dyad("nand", "Not both.", ("1 1 0⍲1 0 0", "0 1 1"), laws=("(b⍲c)≡~b∧c",)),
    ),
    _scalar_row("⍱", "nor", "(", None, _scalar_dyad("nor", "Neither.", ("1 1 0⍱1 0 0", "0 0 1"), laws=("(b⍱c)≡~b∨c",))),
    _scalar_row(
        "<", "less lt", "3", None,
        _scalar_dyad("less", "Is ⍺ below ⍵?", ("1 2 3<2", "1 0 0"), identity=0, laws=("(x<y)≡y>x",), kind=COMPARE),
    ),
    _scalar_row(
        "≤", "atmost le", "4", None,
        _scalar_dyad("at most", "Is ⍺ at most ⍵?", ("1 2 3≤2", "1 1 0"), identity=1, laws=("(x≤y)≡~x>y",), kind=COMPARE),
    ),
    _scalar_row(
        "=", "equal eq", "5", None,
        _scalar_dyad(
            "equal",
            "Are they equal, exactly and by value, whatever their kinds? `9007199254740993=9007199254740992.0` is 0. "
            "`< ≡ ∊ ⍳ ⍷ ⍸ ~ ∩ ∪` compare so too. NaN equals nothing, and text never equals a number.", ("1 2 3=1 5 3", "1 0 1"),
            ("'banana'='a'", "0 1 0 1 0 1"), identity=1, laws=("(x=y)≡y=x",), kind=COMPARE,
        ),
    ),
    _scalar_row(
        "≥", "atleast ge", "6", None,
        _scalar_dyad("at least", "Is ⍺ at least ⍵?", ("1 2 3≥2", "0 1 1"), identity=1, laws=("(x≥y)≡~x<y",), kind=COMPARE),
    ),
    _scalar_row(
        ">", "greater gt", "7", None,
        _scalar_dyad("greater", "Is ⍺ above ⍵?", ("1 2 3>2", "0 0 1"), identity=0, laws=("(x>y)≡~x≤y",), kind=COMPARE),
    ),
    _scalar_row(
        "≠", "notequal ne", "8",
        PrimitiveUse(
            "first occurrence", "A mask of the major cells that occur for the first time.", (None,),
            (("≠3 1 3 2 1", "1 1 0 1 0"),), type="≠T[n s] : bool[n]", laws=("(∪x)≡(≠x)⌿x",),
        ),
        _scalar_dyad(
            "not equal", "Do they differ, exactly?", ("1 2 3≠1 5 3", "0 1 0"), identity=0, laws=("(x≠y)≡~x=y",),
            kind=COMPARE,
        ),
    ),
)  # fmt: skip


# ---------------------------------------------------------------------------------------------------- array functions

RUN_TIME_SIZE, LEFT, RIGHT = Trait.RUN_TIME_SIZE, Trait.STATIC_LEFT, Trait.STATIC_RIGHT


def _array_monad(
    name: str, type_: str, doc: str, *examples: Example,
    ranks: tuple[CellRank, ...] = (None,), laws: tuple[str, ...] = (), kind: tuple[Trait, ...] = (),
) -> PrimitiveUse:  # fmt: skip
    return PrimitiveUse(name, doc, ranks, examples, type=type_, laws=laws, traits=frozenset(kind))


def _array_dyad(
    name: str, type_: str, doc: str, *examples: Example,
    ranks: tuple[CellRank, ...] = (None, None), laws: tuple[str, ...] = (), kind: tuple[Trait, ...] = (),
) -> PrimitiveUse:  # fmt: skip
    return PrimitiveUse(name, doc, ranks, examples, type=type_, laws=laws, traits=frozenset(kind))


def _array_row(glyph: str, names: str, key: str | None, monadic: PrimitiveUse | None, dyadic: PrimitiveUse | None) -> Primitive:
    return Primitive(glyph, tuple(names.split()), key, GlyphRole.FUNCTION, monadic, dyadic)


ARRAY_FUNCTIONS: tuple[Primitive, ...] = (
    _array_row(
        "≡", "match depth", ":",
        _array_monad(
            "depth", "≡T[s] : 0 or 1", "0 for a scalar, else 1, a static size: arrays do not nest.", ("≡5 6 7", "1"), ("≡5", "0"),
        ),
        _array_dyad(
            "match", "any ≡ any : bool", "Same shape and equal elements?", ("1 2 3≡1 2 3", "1"), ("1 2≡1 2 3", "0"),
            laws=("x≡x",),
        ),
    ),
    _array_row(
        "≢", "notmatch tally", '"',
        _array_monad(
            "tally", "≢T[n s] : n", "The length of the first axis (1 for a scalar), a static size.", ("≢5 6 7", "3"),
            ("≢3 2⍴0", "3"), laws=("(≢x)≡⊃⍴x",),
        ),
        _array_dyad(
            "not match", "any ≢ any : bool", "Do the shapes or some elements differ?", ("'ab'≢'abc'", "1"), ("5≢5", "0"),
            laws=("(x≢y)≡~x≡y",),
        ),
    ),
    _array_row(
        "⍴", "rho shape reshape", "r",
        _array_monad(
            "shape", "⍴T[s] : s as a vector", "The lengths of the axes, a static vector.", ("⍴2 3⍴0", "2 3"), ("⍴5 6 7", "3"),
            laws=("(≢⍴m)≡2",),
        ),
        _array_dyad(
            "reshape", "s ⍴ T[u] : T[s]",
            "⍵'s elements in order, arranged in shape ⍺, repeated or cut off as needed; one `_` slot is inferred.",
            ("2 3⍴⍳6", "0 1 2\n3 4 5"), ("5⍴1 2", "1 2 1 2 1"), ("3 _⍴⍳6", "0 1\n2 3\n4 5"), laws=("m≡(⍴m)⍴,m",),
            kind=(LEFT,),
        ),
    ),
    _array_row(
        ",", "ravel catenate comma", None,
        _array_monad(
            "ravel", ",T[s] : T[×/s]", "All elements in row-major order as a vector.", (",2 2⍴⍳4", "0 1 2 3"), laws=("x≡,x",),
        ),
        _array_dyad(
            "join", "T[s n] , T[s m] : T[s n+m]", "Join along the last axis; an argument of one rank less is one cell.",
            ("1 2,3 4", "1 2 3 4"), ("(2 2⍴⍳4),8 9", "0 1 8\n2 3 9"), ("'ab','c'", "abc"),
            laws=("(x,y,z)≡(x,y),z", "(≢x,y)≡(≢x)+≢y"),
        ),
    ),
    _array_row(
        "⍪", "table catenatefirst", "<",
        _array_monad(
            "table", "⍪T[n s] : T[n ×/s]", "A matrix whose rows are the ravelled major cells.", ("⍪1 2 3", "1\n2\n3"),
            laws=("x≡,⍪x",),
        ),
        _array_dyad(
            "join first", "T[n s] ⍪ T[m s] : T[n+m s]", "Join along the first axis; an argument of one rank less is one cell.",
            ("(2 2⍴⍳4)⍪8 9", "0 1\n2 3\n8 9"), ("1 2⍪3", "1 2 3"), laws=("(m⍪m)≡⍉(⍉m),⍉m",),
        ),
    ),
    _array_row(
        "⌽", "reverse rotate", "%",
        _array_monad(
            "reverse", "⌽T[s] : T[s]", "Reverse along the last axis.", ("⌽1 2 3", "3 2 1"), laws=("m≡⌽⌽m", "(⌽x,y)≡(⌽y),⌽x"),
        ),
        _array_dyad(
            "rotate", "k ⌽ T[s] : T[s]", "Rotate left by ⍺ along the last axis; a vector ⍺ has one count a row.",
            ("1⌽1 2 3 4", "2 3 4 1"), ("¯1⌽1 2 3 4", "4 1 2 3"), ("0 1⌽2 2⍴⍳4", "0 1\n3 2"), laws=("x≡¯1⌽1⌽x",),
        ),
    ),
    _array_row(
        "⊖", "reversefirst rotatefirst", "&",
        _array_monad(
            "reverse first", "⊖T[n s] : T[n s]", "Reverse along the first axis.", ("⊖2 2⍴⍳4", "2 3\n0 1"),
            laws=("m≡⊖⊖m", "(⊖m)≡⍉⌽⍉m"),
        ),
        _array_dyad(
            "rotate first", "k ⊖ T[n s] : T[n s]", "Rotate up by ⍺ along the first axis.", ("1⊖3 2⍴⍳6", "2 3\n4 5\n0 1"),
            laws=("m≡¯1⊖1⊖m",),
        ),
    ),
    _array_row(
        "⍉", "transpose", "^",
        _array_monad(
            "transpose", "⍉T[n m] : T[m n]", "The axes in reverse order.", ("⍉2 3⍴⍳6", "0 3\n1 4\n2 5"), laws=("m≡⍉⍉m",),
        ),
        _array_dyad(
            "reorder axes", "p ⍉ T[s] : T[s′]",
            "Axis i of ⍵ becomes axis i⊃⍺ of the result; a repeated number takes the diagonal.",
            ("1 0⍉2 3⍴⍳6", "0 3\n1 4\n2 5"), ("0 0⍉2 2⍴⍳4", "0 3"), laws=("(⍉m)≡1 0⍉m",), kind=(LEFT,),
        ),
    ),
    _array_row(
        "↑", "take mix", "y",
        _array_monad(
            "mix", "↑T[s] : T[s]", "Text strands become a matrix, padded with blanks on the right; anything else is itself.",
            ("⍴↑'ab' 'cde'", "2 3"), ("↑1 2 3", "1 2 3"), laws=("x≡↑x",),
        ),
        _array_dyad(
            "take", "k ↑ T[n s] : T[k s]",
            "The first |⍺| major cells, the last ones for a negative ⍺, with fills beyond the end; a vector takes along "
            "several axes.",
            ("2↑5 6 7", "5 6"), ("¯2↑5 6 7", "6 7"), ("5↑1 2 3", "1 2 3 0 0"), ("2 2↑3 3⍴⍳9", "0 1\n3 4"), laws=("x≡(≢x)↑x",),
            kind=(LEFT,),
        ),
    ),
    _array_row(
        "↓", "drop", "u",
        _array_monad(
            "identity", "↓T[s] : T[s]", "The argument itself: a list of rows is the matrix.", ("↓1 2 3", "1 2 3"),
            laws=("x≡↓x",),
        ),
        _array_dyad(
            "drop", "k ↓ T[n s] : T[0⌈n-k s]", "Without the first ⍺ major cells, the last ones for a negative ⍺.",
            ("2↓1 2 3 4", "3 4"), ("¯1↓1 2 3", "1 2"), laws=("x≡(1↑x),1↓x",), kind=(LEFT,),
        ),
    ),
    _array_row(
        "⊃", "first pick disclose", "x",
        _array_monad("first", "⊃T[s] : T", "The first element; the array must not be empty.", ("⊃5 6 7", "5"), laws=("(⊃x)≡0⌷x",
        )),
        _array_dyad(
            "pick", "i ⊃ T[s] : T[s′]", "Index each leading axis by the next item of ⍺.", ("1⊃5 6 7", "6"), ("1 0⊃2 2⍴⍳4", "2"),
            laws=("(⊃x)≡0⊃x",),
        ),
    ),
    _array_row(
        "⌷", "squad index", "L",
        _array_monad("materialise", "⌷T[s] : T[s]", "The argument itself.", ("⌷5 6 7", "5 6 7"), laws=("x≡⌷x",)),
        _array_dyad(
            "select cells", "i[u] ⌷ T[n s] : T[u s]", "The major cells of ⍵ at the positions ⍺.", ("2 0⌷5 6 7", "7 5"),
            ("1⌷2 2⍴⍳4", "2 3"), laws=("x≡(⍳≢x)⌷x",),
        ),
    ),
    _array_row(
        "⍳", "iota indexof", "i",
        _array_monad(
            "iota", "⍳n : idx<n>[n]", "The first n positions; a vector gives every position of that box.", ("⍳5", "0 1 2 3 4"),
            ("⍳2 2", "0 0\n0 1\n\n1 0\n1 1"), laws=("(≢⍳5)≡5",), kind=(RIGHT,),
        ),
        _array_dyad(
            "index of", "T[n s] ⍳ T[u s] : i64[u]",
            "Where each cell of ⍵ first occurs among the major cells of ⍺; n when it does not.", ("5 6 7⍳7 9", "2 3"),
            ("'abc'⍳'cab'", "2 0 1"), laws=("x≡(x⍳x)⌷x",),
        ),
    ),
    _array_row(
        "⍸", "where intervalindex iotabar", "I",
        _array_monad(
            "where", "⍸bool[n] : idx<n>[k≤n]", "The positions that hold; one row a position when the mask has rank above 1.",
            ("⍸0 1 0 1", "1 3"), laws=("(≢⍸b)≡+/b",), kind=(RUN_TIME_SIZE,),
        ),
        _array_dyad(
            "interval index", "T[n] ⍸ T[u] : i64[u]",
            "Which interval of the sorted ⍺ each item of ⍵ falls in: how many of ⍺ are at most it, less one.  None are at most "
            "NaN, which sorts put last.",
            ("10 20 30⍸5 10 25", "¯1 0 1"), ranks=(1, 0),
        ),
    ),
    _array_row(
        "∊", "member epsilon in enlist", "e",
        _array_monad(
            "enlist", "∊T[s] : T[×/s]", "All elements in row-major order as a vector, as `,`.", ("∊2 2⍴⍳4", "0 1 2 3"),
            laws=("x≡∊x",),
        ),
        _array_dyad(
            "member of", "T[u] ∊ T[s] : bool[u]", "Does each element of ⍺ occur in ⍵?", ("1 9∊1 2 3", "1 0"),
            ("'cab'∊'abd'", "0 1 1"), laws=("∧/x∊x",),
        ),
    ),
    _array_row(
        "⍷", "find", "E", None,
        _array_dyad(
            "find", "T[u] ⍷ T[s] : bool[s]", "Where the pattern ⍺ starts inside ⍵.", ("'an'⍷'banana'", "0 1 0 1 0 0"),
            laws=("⊃x⍷x",),
        ),
    ),
    _array_row(
        "⍋", "gradeup", "$",
        _array_monad(
            "grade up", "⍋T[n s] : perm<n>",
            "The permutation that sorts the major cells upwards; equal cells keep their order.", ("⍋3 1 2", "1 2 0"),
            laws=("(⍋x)≡⍋⍋⍋x",),
        ),
        _array_dyad(
            "collate up", "char[k] ⍋ char[n s] : perm<n>", "Grade text up by the order of the characters in ⍺.",
            ("'cba'⍋'abc'", "2 1 0"),
        ),
    ),
    _array_row(
        "⍒", "gradedown", "#",
        _array_monad(
            "grade down", "⍒T[n s] : perm<n>",
            "The permutation that sorts the major cells downwards; equal cells keep their order.", ("⍒3 1 2", "0 2 1"),
            laws=("((⍒x)⌷x)≡⌽(⍋x)⌷x",),
        ),
        _array_dyad(
            "collate down", "char[k] ⍒ char[n s] : perm<n>", "Grade text down by the order of the characters in ⍺.",
            ("'cba'⍒'abc'", "0 1 2"),
        ),
    ),
    _array_row(
        "∪", "unique union", "v",
        _array_monad(
            "unique", "∪T[n s] : T[k≤n s]", "The distinct major cells, in order of first occurrence.", ("∪3 1 3 2", "3 1 2"),
            ("∪'banana'", "ban"), laws=("(∪x)≡∪∪x",), kind=(RUN_TIME_SIZE,),
        ),
        _array_dyad(
            "union", "T[n s] ∪ T[m s] : T[k≤n+m s]", "⍺, then the major cells of ⍵ that are not in it.", ("1 2∪2 3", "1 2 3"),
            laws=("x≡x∪x",), kind=(RUN_TIME_SIZE,),
        ),
    ),
    _array_row(
        "∩", "intersection", "c", None,
        _array_dyad(
            "intersection", "T[n s] ∩ T[m s] : T[k≤n s]", "The major cells of ⍺ that are in ⍵.", ("1 2 3∩2 3 4", "2 3"),
            laws=("x≡x∩x",), kind=(RUN_TIME_SIZE,),
        ),
    ),
    _array_row(
        "/", "compress replicate", None, None,
        _array_dyad(
            "compress", "bool[n] / T[s n] : T[s k≤n]",
            "Keep the items along the last axis where the mask holds; literal counts repeat them and a negative count "
            "inserts fills.",
            ("1 0 1/5 6 7", "5 7"), ("2 0 1/5 6 7", "5 5 7"), laws=("(b/x)≡b⌿x", "x≡1/x"), kind=(RUN_TIME_SIZE,),
        ),
    ),
    _array_row(
        "⌿", "compressfirst replicatefirst", None, None,
        _array_dyad(
            "compress first", "bool[n] ⌿ T[n s] : T[k≤n s]", "Keep the major cells where the mask holds.",
            ("1 0 1⌿3 2⍴⍳6", "0 1\n4 5"), laws=("(+/b)≡≢b⌿x",), kind=(RUN_TIME_SIZE,),
        ),
    ),
    _array_row(
        "\\", "expand", None, None,
        _array_dyad(
            "expand", "bool[m] \\ T[s n] : T[s m]",
            "Items along the last axis go where the mask holds, fills elsewhere; the mask holds n times.",
            ("1 0 1\\5 6", "5 0 6"), laws=("(b/x)≡b/b\\b/x",),
        ),
    ),
    _array_row(
        "⍀", "expandfirst", None, None,
        _array_dyad(
            "expand first", "bool[m] ⍀ T[n s] : T[m s]", "Major cells go where the mask holds, fills elsewhere.",
            ("1 0 1⍀2 2⍴1+⍳4", "1 2\n0 0\n3 4"),
        ),
    ),
    _array_row(
        "⊥", "decode base", "b", None,
        _array_dyad(
            "decode", "r[n] ⊥ T[n s] : T[s]", "The value of the digits ⍵ in the mixed radix ⍺; u8 and i32 give i64, as in `+.×`.",
            ("10 10 10⊥1 2 3", "123"), ("2⊥1 0 1", "5"), ("10⊥u8 9 9 9", "999"), ("24 60⊥1 40", "100"),
        ),
    ),
    _array_row(
        "⊤", "encode", "n", None,
        _array_dyad(
            "encode", "r[u] ⊤ T[s] : T[u s]", "The digits of ⍵ in the mixed radix ⍺, along a new first axis.",
            ("2 2 2⊤5", "1 0 1"), ("24 60⊤100", "1 40"),
        ),
    ),
    _array_row(
        "⌹", "domino inverse solve", "+",
        _array_monad(
            "matrix inverse", "⌹f64[n n] : f64[n n]", "The inverse, or the pseudo-inverse of a tall matrix.",
            ("⌹2 2⍴2 0 0 1", "0.5 0\n0   1"), ranks=(2,),
        ),
        _array_dyad(
            "solve", "f64[n] ⌹ f64[n m] : f64[m]", "The x with ⍵ +.× x nearest to ⍺ (least squares).",
            ("4 6⌹2 2⍴2 0 0 3", "2 2"),
        ),
    ),
    _array_row(
        "¿", "choose", "Q", None,
        _array_dyad(
            "select", "bool[u] ¿ (T[s] ⋄ T[s]) : T[s]",
            "Elements of the first where the mask holds, of the second elsewhere. Both are computed: it chooses items and skips "
            "no work. A guard in a dfn, `{c : a ⋄ b}`, computes only what it needs.",
            ("1 0 1¿(1 2 3 ⋄ 10 20 30)", "1 20 3"), laws=("x≡b¿(x ⋄ x)",), ranks=(0, 0),
        ),
    ),
    _array_row(
        "?", "random roll deal", "q", None,
        _array_dyad(
            "random", "key ? s : f64[s]", "Uniform numbers in 0 to 1 made from the key; the same key gives the same numbers.",
            ("⍴7?2 3", "2 3"), ("(7?4)≡7?4", "1"), kind=(RIGHT,),
        ),
    ),
    _array_row(
        "↕", "windows", "Y", None,
        _array_dyad(
            "windows", "k ↕ T[n s] : T[(n-k)+1 k s]",
            "All runs of ⍺ neighbouring major cells, 1 ≤ ⍺ ≤ n; a vector windows several axes.", ("2↕1 2 3 4", "1 2\n2 3\n3 4"),
            laws=("(2+/x,0)≡+/2↕x,0",), kind=(LEFT,),
        ),
    ),
    _array_row(
        "⊣", "left", "|",
        _array_monad("identity", "⊣T[s] : T[s]", "The argument.", ("⊣5", "5"), laws=("x≡⊣x",)),
        _array_dyad("left", "T[s] ⊣ any : T[s]", "The left argument.", ("1⊣2", "1"), laws=("x≡x⊣y",)),
    ),
    _array_row(
        "⊢", "right", "\\",
        _array_monad(
            "identity", "⊢T[s] : T[s]", "The argument; also separates an operand from an argument, as in `f⍤1 ⊢ x`.",
            ("⊢5", "5"), laws=("x≡⊢x",),
        ),
        _array_dyad("right", "any ⊢ T[s] : T[s]", "The right argument.", ("1⊢2", "2"), laws=("y≡x⊢y",)),
    ),
    _array_row(
        "⍕", "format thorn", "'",
        _array_monad(
            "format", "⍕any : text",
            "The text of a value as it prints, with ten digits whatever `--digits` says; only in printed or output text.",
            ("⍕1 2 3", "1 2 3"), kind=(RUN_TIME_SIZE,),
        ),
        None,
    ),
    _array_row(
        "⊂", "enclose", "z",
        _array_monad(
            "enclose", "⊂i[u] left of ⌷",
            "Left of `⌷`, where `(⊂I)⌷x` is `I⌷x`, and beside `¨`, where `(⊂x)f¨y` is x with each element: arrays do not nest.",
            ("(⊂2 0)⌷5 6 7", "7 5"),
        ),
        None,
    ),
)  # fmt: skip


# ---------------------------------------------------------------------------------------------------- conversions and library

ELEMENTWISE = traits(Trait.SCALAR)
ELEMENTWISE_FLOAT = traits(Trait.SCALAR, Trait.FLOAT_RESULT)


def _conversion(name: str, doc: str, *examples: Example) -> Primitive:
    use = PrimitiveUse(f"convert to {name}", doc, (0,), examples, type=f"{name} T[s] : {name}[s]", traits=ELEMENTWISE)
    return Primitive(name, (), None, GlyphRole.FUNCTION, use)


def _scalar(name: str, ascii_name: str, title: str, doc: str, *examples: Example) -> Primitive:
    use = PrimitiveUse(title, doc, (0,), examples, type=f"⎕{name} f64[s] : f64[s]", traits=ELEMENTWISE_FLOAT)
    return Primitive(f"⎕{name}", (ascii_name,), None, GlyphRole.FUNCTION, use)


def _cells(
    name: str, title: str, rank: CellRank, type_: str, doc: str, *examples: Example, traits: frozenset[Trait] = frozenset()
) -> Primitive:  # fmt: skip
    """A library function on cells of this rank, whose typing rule is its `type` (`typechecker.rules.search`)."""
    use = PrimitiveUse(title, doc, (rank,), examples, type=type_, traits=traits)
    return Primitive(f"⎕{name}", (name,), None, GlyphRole.FUNCTION, use)


def _matrix(name: str, title: str, type_: str, doc: str, *examples: Example) -> Primitive:
    return _cells(name, title, 2, type_, doc, *examples, traits=traits(Trait.FLOAT_RESULT))


def _bits(name: str, title: str, form: str, doc: str, *examples: Example, identity: int | None = None, laws: tuple[str, ...] = ()
          ) -> Primitive:  # fmt: skip
    use = PrimitiveUse(title, doc, (0, 0), examples, type=form, identity=identity, laws=laws, traits=ELEMENTWISE)
    return Primitive(f"⎕{name}", (name,), None, GlyphRole.FUNCTION, dyadic=use)


def _of_dates(name: str, title: str, doc: str, *examples: Example) -> Primitive:
    """A conversion to dates, times or their differences (`typechecker.rules.dates`)."""
    use = PrimitiveUse(title, doc, (0,), examples, type=f"⎕{name} T[s] : {name}[s]")
    return Primitive(f"⎕{name}", (name,), None, GlyphRole.FUNCTION, use)


CONVERSIONS: tuple[Primitive, ...] = (
    _conversion("bool", "0 and 1 as bool; anything else is E703 when it runs.", ("bool 0 1", "0 1")),
    _conversion("u8", "Integers 0 to 255; a value outside is E703 when it runs.", ("u8 255", "255")),
    _conversion("i32", "32-bit integers; a value outside is E703 when it runs.", ("i32 7", "7")),
    _conversion(
        "i64", "64-bit integers; a fraction is E703 when it runs (write `⌊x`). Text gives code points.", ("i64 2.0", "2"),
    ),
    _conversion("f32", "Single-precision floats.", ("f32 1.5", "1.5")),
    _conversion("f64", "Double-precision floats.", ("f64 3", "3")),
    _conversion("c64", "Single-precision complex numbers.", ("c64 2J1", "2J1")),
    _conversion(
        "c128", "Double-precision complex numbers, so that `√` and `⍟` of negative numbers exist.", ("√c128 ¯4", "0J2"),
    ),
    _conversion("char", "Characters from code points.", ("char 72 105", "Hi")),
)  # fmt: skip

LIBRARY: tuple[Primitive, ...] = (
    _scalar("erf", "erf", "error function", "The error function.", ("⎕erf 0", "0")),
    _scalar(
        "erfc", "erfc", "complementary error function", "1 minus the error function, without cancellation.", ("⎕erfc 0", "1"),
    ),
    _scalar("lgamma", "lgamma", "log gamma", "The logarithm of the magnitude of gamma.", ("⎕lgamma 1 2", "0 0")),
    _scalar("digamma", "digamma", "digamma", "The logarithmic derivative of gamma.", ("⎕digamma 1", "¯0.5772156649")),
    _scalar("expm1", "expmone", "exponential minus one", "`(*x)-1`, exact for small x.", ("⎕expm1 0", "0")),
    _scalar("log1p", "logonep", "logarithm of one plus", "`⍟1+x`, exact for small x.", ("⎕log1p 0", "0")),
    Primitive(
        "⎕atan2", ("atantwo",), None, GlyphRole.FUNCTION,
        dyadic=PrimitiveUse("angle of a point",
        "The angle, from ¯π to π, of the point whose height is ⍺ and whose other coordinate is ⍵.",
                   (0, 0), (("1 ⎕atan2 1", "0.7853981634"), ("0 ⎕atan2 ¯1", "3.141592654")),
                   type="f64[s] ⎕atan2 f64[s] : f64[s]", laws=("((2×y)⎕atan2 2×x)≡y⎕atan2 x",), traits=ELEMENTWISE_FLOAT),
    ),
    _bits(
        "band", "bits and", "i64[s] ⎕band i64[s] : i64[s]", "The bits that both have. With a number that is not negative the "
        "result is within it: `255⎕band x` indexes 256 cells.", ("12 ⎕band 10", "8"), ("255 ⎕band ¯1", "255"), identity=-1,
        laws=("(x⎕band y)≡⎕bnot(⎕bnot x)⎕bor⎕bnot y",),
    ),
    _bits(
        "bor", "bits or", "i64[s] ⎕bor i64[s] : i64[s]", "The bits that at least one has.", ("12 ⎕bor 10", "14"), identity=0,
        laws=("(x⎕bor y)≡(x⎕bxor y)+x⎕band y",),
    ),
    _bits(
        "bxor", "bits exclusive or", "i64[s] ⎕bxor i64[s] : i64[s]", "The bits that exactly one has.", ("12 ⎕bxor 10", "6"),
        ("⎕bxor/1 2 3", "0"), identity=0, laws=("x≡y⎕bxor y⎕bxor x",),
    ),
    Primitive(
        "⎕bnot", ("bnot",), None, GlyphRole.FUNCTION,
        PrimitiveUse("bits not", "Every bit the other, in two's complement: ¯1-x; of u8 255-x.", (0,), (("⎕bnot 0 5", "¯1 ¯6"),),
            type="⎕bnot i64[s] : i64[s]", traits=ELEMENTWISE, laws=("(⎕bnot x)≡¯1-x",)),
    ),
    _bits(
        "shl", "shift left", "i64[s] ⎕shl T[s] : T[s]", "⍵ shifted left by ⍺ bits, zeros coming in; ⍵ keeps its type. A count "
        "outside 0..width-1 is E310.", ("3 ⎕shl 5", "40"), laws=("(3⎕shl x)≡x×8",),
    ),
    _bits(
        "shr", "shift right", "i64[s] ⎕shr T[s] : T[s]", "⍵ shifted right by ⍺ bits, its sign coming in: ⌊⍵÷2*⍺. A count outside "
        "0..width-1 is E310.", ("1 ⎕shr 5 ¯5", "2 ¯3"), laws=("(1⎕shr x)≡⌊x÷2",),
    ),
    _bits(
        "shru", "shift right unsigned", "i64[s] ⎕shru T[s] : T[s]", "⍵ shifted right by ⍺ bits, zeros coming in. A count outside "
        "0..width-1 is E310.", ("60 ⎕shru ¯1", "15"),
    ),
    _cells(
        "fft", "Fourier transform", 1, "⎕fft c128[n] : c128[n] where n≥1", "Discrete Fourier transform along the last axis.",
        ("⎕fft 1 0 0 0", "1 1 1 1"),
    ),
    _cells(
        "ifft", "inverse Fourier transform", 1, "⎕ifft c128[n] : c128[n] where n≥1", "Inverse of ⎕fft.",
        ("⎕ifft 4 0 0 0", "1 1 1 1"),
    ),
    _cells(
        "rfft", "real Fourier transform", 1, "⎕rfft f64[n] : c128[1+⌊n÷2] where n≥1",
        "The first half of the transform of real data.",
        ("⎕rfft 1 0 0 0", "1 1 1"),
    ),
    _cells(
        "irfft", "inverse real Fourier transform", 1, "⎕irfft c128[n] : f64[2×(n-1)] where n≥1",
        "Inverse of ⎕rfft for even lengths.",
        ("⌊0.5+⎕irfft 1 1 1", "1 0 0 0"),
    ),
    _matrix(
        "cholesky", "Cholesky factor", "⎕cholesky T[n n] : T[n n]",
        "The lower triangular L with L +.× ⍉L equal to the argument.", ("⎕cholesky 2 2⍴4 0 0 9", "2 0\n0 3"),
    ),
    _matrix(
        "qr", "QR factors", "⎕qr T[m n] : (T[m m⌊n] ⋄ T[m⌊n n])",
        "Orthonormal columns q and upper triangular r with q +.× r equal to the argument.", ("{(q r)←⎕qr ⍵ ⋄ ⍴r}3 2⍴⍳6", "2 2"),
    ),
    _matrix(
        "svd", "singular values", "⎕svd T[m n] : (T[m m⌊n] ⋄ f64[m⌊n] ⋄ T[m⌊n n])",
        "u, singular values s and v with u +.× s × v equal to the argument.", ("{(u s v)←⎕svd ⍵ ⋄ s}2 2⍴3 0 0 2", "3 2"),
    ),
    _matrix(
        "eigh", "eigenvalues", "⎕eigh T[n n] : (f64[n] ⋄ T[n n])",
        "Eigenvalues (upwards) and eigenvectors (columns) of a symmetric matrix.", ("{(w v)←⎕eigh ⍵ ⋄ w}2 2⍴2 0 0 3", "2 3"),
    ),
    _matrix("det", "determinant", "⎕det T[n n] : T", "The determinant.", ("⎕det 2 2⍴1 2 3 4", "¯2")),
    _matrix(
        "slogdet", "sign and logarithm of the determinant", "⎕slogdet T[n n] : (T ⋄ f64)",
        "The determinant as s×*l, which neither overflows nor underflows: its sign s (0 of a singular matrix; of complex ones a "
        "number of size 1) and the logarithm l of its size.", ("{(s l)←⎕slogdet ⍵ ⋄ s×*l}2 2⍴1 2 3 4", "¯2"),
        ("{(s l)←⎕slogdet ⍵ ⋄ l}1e300×2 2⍴2 0 0 2", "1382.93735"),
    ),
    _cells(
        "number", "number that a text says", 1, "⎕number char[w] : f64",
        "The number that each row of text says, blanks around it left out: "
        "`-3`, `¯3`, `2.5`, `1e-3`, `∞`; NaN of a row that is not a number.",
        ("⎕number ' 2.5'", "2.5"), ("⎕number ['¯3 ' ⋄ 'n/a']", "¯3 NaN"),
    ),
    _of_dates(
        "date", "date", "Dates: of rows of text such as `2024-12-31` (another row is E705), of days since 1970-01-01, and of "
        "times.", ("⎕date '2024-02-29'", "2024-02-29"), ("1+i64 ⎕date '1970-02-01'", "32"),
    ),
    _of_dates(
        "time", "time", "Times, in nanoseconds and UTC: of rows of text such as `2024-12-31T23:59:59.5+01:00` (another row is "
        "E705), of nanoseconds since 1970, and of the starts of days.", ("⎕time '2024-02-29T12:00+01:00'", "2024-02-29T11:00:00"),
    ),
    _of_dates(
        "days", "days", "Differences of dates: of numbers of days, and of durations, rounded down.",
        ("(⎕date '2024-02-28')+⎕days 2", "2024-03-01"),
    ),
    _of_dates(
        "duration", "duration", "Differences of times: of nanoseconds, and of days.",
        ("(⎕duration ⎕days 1)÷⎕duration 3600000000000", "24"),
    ),
    Primitive("⎕text", ("text",), None, GlyphRole.FUNCTION, dyadic=PrimitiveUse(
        "text with digits",
        "A row of text for each item, with ⍺ digits after the point, flush right; from 1E15 on with an exponent. ⍺ is known "
        "before the program runs.", (0, 0), (("2⎕text 3.14159", "3.14"), ("2⎕text 10 2.5", "10.00\n 2.50")),
        type="i64 ⎕text f64[s] : char[s w]",
    )),
    Primitive("⎕regex", ("regex",), None, GlyphRole.FUNCTION, PrimitiveUse(
        "automaton of a regular expression",
        "The automaton of a pattern (a subset of RE2's language: E340) that is known before the program runs, as constants "
        "for `text.search` and `text.spans`: first code points of the classes of characters, the table of states, kinds of "
        "classes, the classes that each position reads, and the positions that may follow, preferred ones first.",
        (None,), (("{(cuts states kinds reads orders) ← ⎕regex ⍵ ⋄ ⍴states} 'ab*c'", "6 6"),),
        type="⎕regex char[n] : (i64[c] ⋄ idx<k>[k d] ⋄ idx<3>[d] ⋄ bool[p d] ⋄ idx<p+2>[e p+1 q])",
        traits=traits(Trait.STATIC_RIGHT),
    )),
    Primitive("⎕A", ("alphabet",), None, GlyphRole.CONSTANT, doc="The 26 letters `'ABC…Z'`.", examples=(("3↑⎕A", "ABC"),)),
    Primitive("⎕D", ("digits",), None, GlyphRole.CONSTANT, doc="The ten digits `'0123456789'`.", examples=(("⎕D", "0123456789"),
    )),
    Primitive(
        "⎕nan", ("nan",), None, GlyphRole.CONSTANT, doc="The quiet NaN: it is not equal to itself, and weak as a literal is.",
        examples=(("⎕nan=⎕nan", "0"), ("1+⎕nan", "NaN")),
    ),
    Primitive(
        "⎕nat", ("nat",), None, GlyphRole.CONSTANT,
        doc="The missing date, time or difference: equal to itself, and before all others.",
        examples=(("⎕nat⌈⎕date '2024-02-29'", "2024-02-29"), ("⎕nat+⎕days 1", "NaT")),
    ),
    Primitive(
        "⎕IO", ("indexorigin",), None, GlyphRole.CONSTANT,
        doc="The index origin of this file: 0, or 1 when the file's first statement is `⎕IO←1`.", examples=(("⎕IO", "0"),),
    ),
)  # fmt: skip
