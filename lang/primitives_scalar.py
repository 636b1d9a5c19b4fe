"""Rows of the scalar functions: they pervade by agreement (language.md, Primitives and Identities)."""

from __future__ import annotations

from .primitives_record import Example, Primitive, Role, Trait, Use, traits

S = Trait.SCALAR
COMPARE = traits(S, Trait.COMPARISON)
FLOAT = traits(S, Trait.FLOAT_RESULT)


def _one(name: str, doc: str, *examples: Example, laws: tuple[str, ...] = (), kind: frozenset[Trait] = traits(S)) -> Use:
    return Use(name, doc, (0,), examples, laws=laws, traits=kind)


def _two(
    name: str,
    doc: str,
    *examples: Example,
    identity: int | None = None,
    laws: tuple[str, ...] = (),
    kind: frozenset[Trait] = traits(S),
) -> Use:
    return Use(name, doc, (0, 0), examples, identity=identity, laws=laws, traits=kind)


def _row(glyph: str, names: str, key: str | None, monadic: Use | None, dyadic: Use | None) -> Primitive:
    return Primitive(glyph, tuple(names.split()), key, Role.FUNCTION, monadic, dyadic)


SCALAR_FUNCTIONS: tuple[Primitive, ...] = (
    _row(
        "+", "plus add conjugate", None,
        _one("conjugate", "The complex conjugate; a real number is itself.", ("+3J4", "3J¯4"), ("+5", "5"), laws=("x≡+x",)),
        _two(
            "add", "The sum.", ("2+3", "5"), ("1 2 3+10", "11 12 13"), ("(2 3⍴⍳6)+10 20", "10 11 12\n23 24 25"), identity=0,
            laws=("(x+y)≡y+x", "(x+y+z)≡(x+y)+z", "x≡x+0"),
        ),
    ),
    _row(
        "-", "minus subtract negate", None,
        _one("negate", "Zero minus the argument.", ("-3 ¯4", "¯3 4"), laws=("x≡--x",)),
        _two("subtract", "The difference.", ("5-3", "2"), ("1 2 3-1", "0 1 2"), identity=0, laws=("(x-y)≡x+-y",)),
    ),
    _row(
        "×", "times multiply sign signum", "-",
        _one(
            "sign", "¯1, 0 or 1; for a complex number the unit number in its direction.", ("×¯5 0 5", "¯1 0 1"),
            laws=("x≡(×x)×|x",),
        ),
        _two(
            "multiply", "The product.", ("3×4", "12"), ("1 2 3×2", "2 4 6"), identity=1,
            laws=("(x×y)≡y×x", "(x×y×z)≡(x×y)×z", "(x×y+z)≡(x×y)+x×z"),
        ),
    ),
    _row(
        "÷", "divide reciprocal", "=",
        _one("reciprocal", "One divided by the argument, as a float.", ("÷4", "0.25"), kind=FLOAT),
        _two(
            "divide", "The quotient, as a float; division by zero follows IEEE.", ("10÷4", "2.5"), ("6 9÷3", "2 3"), identity=1,
            kind=FLOAT,
        ),
    ),
    _row(
        "*", "power exp", "p",
        _one("exponential", "e to the power of the argument.", ("*0", "1"), ("*1", "2.718281828"), kind=FLOAT),
        _two(
            "power", "⍺ to the power of ⍵; integers stay integers when the exponent is a static natural number.",
            ("2*10", "1024"), ("2*¯1", "0.5"), ("9*0.5", "3"), identity=1,
        ),
    ),
    _row(
        "⍟", "log ln", "*",
        _one(
            "natural logarithm", "The logarithm to base e; NaN for negative reals (write `⍟c128 x`).", ("⍟1", "0"), kind=FLOAT,
        ),
        _two("logarithm", "The logarithm of ⍵ to base ⍺.", ("10⍟100", "2"), ("2⍟8", "3"), kind=FLOAT),
    ),
    _row(
        "√", "sqrt root", "R",
        _one("square root", "The square root; NaN for negative reals.", ("√16", "4"), ("√2", "1.414213562"), kind=FLOAT),
        _two("root", "The ⍺-th root of ⍵.", ("3√27", "3"), kind=FLOAT),
    ),
    _row(
        "⌊", "floor min minimum", "d",
        _one("floor", "The largest integer not above the argument, as i64.", ("⌊2.7 ¯2.5", "2 ¯3"), laws=("x≡⌊x+0.5",)),
        _two(
            "minimum", "The smaller of the two.", ("3⌊5", "3"), ("1 5 3⌊2", "1 2 2"), laws=("(x⌊y)≡y⌊x", "x≡x⌊x"),
        ),
    ),
    _row(
        "⌈", "ceiling max maximum ceil", "s",
        _one("ceiling", "The smallest integer not below the argument, as i64.", ("⌈1.5 ¯1.5", "2 ¯1"), laws=("(⌈x)≡-⌊-x",)),
        _two(
            "maximum", "The larger of the two.", ("3⌈5", "5"), ("2⌈1 3", "2 3"), laws=("(x⌈y)≡y⌈x", "(x⌈y)≡-(-x)⌊-y"),
        ),
    ),
    _row(
        "|", "stile abs magnitude residue", "m",
        _one("magnitude", "The absolute value.", ("|¯3 4", "3 4"), ("|3J4", "5"), laws=("(|x)≡x⌈-x",)),
        _two(
            "residue", "What is left of ⍵ after dividing by ⍺, with the sign of ⍺; `0|⍵` is ⍵.", ("3|7", "1"),
            ("¯3|1 2 3 4", "¯2 ¯1 0 ¯2"), ("3|¯1", "2"), identity=0, laws=("(5|x+y)≡5|(5|x)+5|y",),
        ),
    ),
    _row(
        "!", "factorial binomial", "_",
        _one("factorial", "Gamma of one plus the argument.", ("!5", "120"), ("!0.5", "0.8862269255"), kind=FLOAT),
        _two("binomial", "How many ways to choose ⍺ out of ⍵.", ("2!5", "10"), ("3!100", "161700"), identity=1, kind=FLOAT),
    ),
    _row(
        "○", "circle pitimes", "o",
        _one("pi times", "π multiplied by the argument.", ("○1", "3.141592654"), kind=FLOAT),
        Use(
            "circular",
            "The circular function numbered ⍺ (a literal ¯12…12): 1 sine, 2 cosine, 3 tangent, 5 6 7 hyperbolic, negative: "
            "inverse, 9 11 real and imaginary part, 10 magnitude, 12 phase.",
            (0, 0), (("1○0", "0"), ("2○○1", "¯1"), ("¯3○1", "0.7853981634"), ("9○3J4", "3")),
            traits=traits(S, Trait.FLOAT_RESULT, Trait.STATIC_LEFT),
        ),
    ),
    _row(
        "~", "not without tilde", "t",
        _one("not", "1 for 0 and 0 for 1.", ("~1 0", "0 1"), laws=("b≡~~b",)),
        Use(
            "without", "The major cells of ⍺ that are not in ⍵.", (None, None),
            (("1 2 3 4~2 4", "1 3"), ("'banana'~'a'", "bnn")), type="T[n s] ~ T[m s] : T[k≤n s]", laws=("(x~x)≡0↑x",),
            traits=traits(Trait.RUN_TIME_SIZE),
        ),
    ),
    _row(
        "∧", "and lcm", "0", None,
        _two(
            "and / least common multiple", "Both hold; for numbers the least common multiple.", ("1 1 0∧1 0 0", "1 0 0"),
            ("12∧18", "36"), identity=1, laws=("(b∧c)≡c∧b", "b≡b∧1", "(~b∧c)≡(~b)∨~c"),
        ),
    ),
    _row(
        "∨", "or gcd", "9", None,
        _two(
            "or / greatest common divisor", "Either holds; for numbers the greatest common divisor.", ("1 1 0∨1 0 0", "1 1 0"),
            ("12∨18", "6"), identity=0, laws=("(b∨c)≡c∨b", "b≡b∨0"),
        ),
    ),
    _row(
        "⍲", "nand", ")", None,
        _two("nand", "Not both.", ("1 1 0⍲1 0 0", "0 1 1"), laws=("(b⍲c)≡~b∧c",)),
    ),
    _row("⍱", "nor", "(", None, _two("nor", "Neither.", ("1 1 0⍱1 0 0", "0 0 1"), laws=("(b⍱c)≡~b∨c",))),
    _row(
        "<", "less lt", "3", None,
        _two("less", "Is ⍺ below ⍵?", ("1 2 3<2", "1 0 0"), identity=0, laws=("(x<y)≡y>x",), kind=COMPARE),
    ),
    _row(
        "≤", "atmost le", "4", None,
        _two("at most", "Is ⍺ at most ⍵?", ("1 2 3≤2", "1 1 0"), identity=1, laws=("(x≤y)≡~x>y",), kind=COMPARE),
    ),
    _row(
        "=", "equal eq", "5", None,
        _two(
            "equal",
            "Are they equal, exactly and by value, whatever their kinds? `9007199254740993=9007199254740992.0` is 0. "
            "`< ≡ ∊ ⍳ ⍷ ⍸ ~ ∩ ∪` compare so too. NaN equals nothing, and text never equals a number.", ("1 2 3=1 5 3", "1 0 1"),
            ("'banana'='a'", "0 1 0 1 0 1"), identity=1, laws=("(x=y)≡y=x",), kind=COMPARE,
        ),
    ),
    _row(
        "≥", "atleast ge", "6", None,
        _two("at least", "Is ⍺ at least ⍵?", ("1 2 3≥2", "0 1 1"), identity=1, laws=("(x≥y)≡~x<y",), kind=COMPARE),
    ),
    _row(
        ">", "greater gt", "7", None,
        _two("greater", "Is ⍺ above ⍵?", ("1 2 3>2", "0 0 1"), identity=0, laws=("(x>y)≡~x≤y",), kind=COMPARE),
    ),
    _row(
        "≠", "notequal ne", "8",
        Use(
            "first occurrence", "A mask of the major cells that occur for the first time.", (None,),
            (("≠3 1 3 2 1", "1 1 0 1 0"),), type="≠T[n s] : bool[n]", laws=("(∪x)≡(≠x)⌿x",),
        ),
        _two(
            "not equal", "Do they differ, exactly?", ("1 2 3≠1 5 3", "0 1 0"), identity=0, laws=("(x≠y)≡~x=y",),
            kind=COMPARE,
        ),
    ),
)  # fmt: skip
