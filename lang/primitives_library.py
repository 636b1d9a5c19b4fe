"""Rows of the conversions, the reserved element type names and the library functions `⎕name`."""

from __future__ import annotations

from .primitives_record import CellRank, Example, Primitive, Role, Trait, Use, traits

PERVADES = traits(Trait.SCALAR)
FLOAT = traits(Trait.SCALAR, Trait.FLOAT_RESULT)


def _conversion(name: str, doc: str, *examples: Example) -> Primitive:
    use = Use(f"convert to {name}", doc, (0,), examples, type=f"{name} T[s] : {name}[s]", traits=PERVADES)
    return Primitive(name, (), None, Role.FUNCTION, use)


def _scalar(name: str, ascii_name: str, title: str, doc: str, *examples: Example) -> Primitive:
    use = Use(title, doc, (0,), examples, type=f"⎕{name} f64[s] : f64[s]", traits=FLOAT)
    return Primitive(f"⎕{name}", (ascii_name,), None, Role.FUNCTION, use)


def _cells(
    name: str, title: str, rank: CellRank, type_: str, doc: str, *examples: Example, traits: frozenset[Trait] = frozenset()
) -> Primitive:  # fmt: skip
    """Of cells of this rank.  The checker reads its rule from the type (`typechecker.rules.library`)."""
    use = Use(title, doc, (rank,), examples, type=type_, traits=traits)
    return Primitive(f"⎕{name}", (name,), None, Role.FUNCTION, use)


def _matrix(name: str, title: str, type_: str, doc: str, *examples: Example) -> Primitive:
    return _cells(name, title, 2, type_, doc, *examples, traits=traits(Trait.FLOAT_RESULT))


def _bits(name: str, title: str, form: str, doc: str, *examples: Example, identity: int | None = None, laws: tuple[str, ...] = ()
          ) -> Primitive:  # fmt: skip
    use = Use(title, doc, (0, 0), examples, type=form, identity=identity, laws=laws, traits=PERVADES)
    return Primitive(f"⎕{name}", (name,), None, Role.FUNCTION, dyadic=use)


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
        "⎕atan2", ("atantwo",), None, Role.FUNCTION,
        dyadic=Use("angle of a point", "The angle, from ¯π to π, of the point whose height is ⍺ and whose other coordinate is ⍵.",
                   (0, 0), (("1 ⎕atan2 1", "0.7853981634"), ("0 ⎕atan2 ¯1", "3.141592654")),
                   type="f64[s] ⎕atan2 f64[s] : f64[s]", laws=("((2×y)⎕atan2 2×x)≡y⎕atan2 x",), traits=FLOAT),
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
        "⎕bnot", ("bnot",), None, Role.FUNCTION,
        Use("bits not", "Every bit the other, in two's complement: ¯1-x; of u8 255-x.", (0,), (("⎕bnot 0 5", "¯1 ¯6"),),
            type="⎕bnot i64[s] : i64[s]", traits=PERVADES, laws=("(⎕bnot x)≡¯1-x",)),
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
    _cells(
        "date", "day that a text says", 1, "⎕date char[w] : i64",
        "Days since 1970-01-01 of each row of text, a date such as `2024-12-31`; another row is E705.",
        ("⎕date '1970-02-01'", "31"),
    ),
    Primitive("⎕text", ("text",), None, Role.FUNCTION, dyadic=Use(
        "text with digits",
        "A row of text for each item, with ⍺ digits after the point, flush right; from 1E15 on with an exponent. ⍺ is known "
        "before the program runs.", (0, 0), (("2⎕text 3.14159", "3.14"), ("2⎕text 10 2.5", "10.00\n 2.50")),
        type="i64 ⎕text f64[s] : char[s w]",
    )),
    Primitive("⎕A", ("alphabet",), None, Role.CONSTANT, doc="The 26 letters `'ABC…Z'`.", examples=(("3↑⎕A", "ABC"),)),
    Primitive("⎕D", ("digits",), None, Role.CONSTANT, doc="The ten digits `'0123456789'`.", examples=(("⎕D", "0123456789"),)),
    Primitive(
        "⎕nan", ("nan",), None, Role.CONSTANT, doc="The quiet NaN: it is not equal to itself, and weak as a literal is.",
        examples=(("⎕nan=⎕nan", "0"), ("1+⎕nan", "NaN")),
    ),
    Primitive(
        "⎕IO", ("indexorigin",), None, Role.CONSTANT,
        doc="The index origin of this file: 0, or 1 when the file's first statement is `⎕IO←1`.", examples=(("⎕IO", "0"),),
    ),
)  # fmt: skip
