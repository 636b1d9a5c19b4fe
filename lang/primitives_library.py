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


def _cells(name: str, title: str, rank: CellRank, type_: str, doc: str, *examples: Example) -> Primitive:
    return Primitive(f"⎕{name}", (name,), None, Role.FUNCTION, Use(title, doc, (rank,), examples, type=type_))


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
    _cells(
        "fft", "Fourier transform", 1, "⎕fft c128[n] : c128[n]", "Discrete Fourier transform along the last axis.",
        ("⎕fft 1 0 0 0", "1 1 1 1"),
    ),
    _cells("ifft", "inverse Fourier transform", 1, "⎕ifft c128[n] : c128[n]", "Inverse of ⎕fft.", ("⎕ifft 4 0 0 0", "1 1 1 1")),
    _cells(
        "rfft", "real Fourier transform", 1, "⎕rfft f64[n] : c128[1+⌊n÷2]", "The first half of the transform of real data.",
        ("⎕rfft 1 0 0 0", "1 1 1"),
    ),
    _cells(
        "irfft", "inverse real Fourier transform", 1, "⎕irfft c128[n] : f64[2×n-1]", "Inverse of ⎕rfft for even lengths.",
        ("⌊0.5+⎕irfft 1 1 1", "1 0 0 0"),
    ),
    _cells(
        "cholesky", "Cholesky factor", 2, "⎕cholesky f64[n n] : f64[n n]",
        "The lower triangular L with L +.× ⍉L equal to the argument.", ("⎕cholesky 2 2⍴4 0 0 9", "2 0\n0 3"),
    ),
    _cells(
        "qr", "QR factors", 2, "⎕qr f64[m n] : (f64[m m⌊n] ⋄ f64[m⌊n n])",
        "Orthonormal columns q and upper triangular r with q +.× r equal to the argument.", ("{(q r)←⎕qr ⍵ ⋄ ⍴r}3 2⍴⍳6", "2 2"),
    ),
    _cells(
        "svd", "singular values", 2, "⎕svd f64[m n] : (f64[m m⌊n] ⋄ f64[m⌊n] ⋄ f64[m⌊n n])",
        "u, singular values s and v with u +.× s × v equal to the argument.", ("{(u s v)←⎕svd ⍵ ⋄ s}2 2⍴3 0 0 2", "3 2"),
    ),
    _cells(
        "eigh", "eigenvalues", 2, "⎕eigh f64[n n] : (f64[n] ⋄ f64[n n])",
        "Eigenvalues (upwards) and eigenvectors (columns) of a symmetric matrix.", ("{(w v)←⎕eigh ⍵ ⋄ w}2 2⍴2 0 0 3", "2 3"),
    ),
    _cells("det", "determinant", 2, "⎕det f64[n n] : f64", "The determinant.", ("⎕det 2 2⍴1 2 3 4", "¯2")),
    Primitive("⎕A", ("alphabet",), None, Role.CONSTANT, doc="The 26 letters `'ABC…Z'`.", examples=(("3↑⎕A", "ABC"),)),
    Primitive("⎕D", ("digits",), None, Role.CONSTANT, doc="The ten digits `'0123456789'`.", examples=(("⎕D", "0123456789"),)),
    Primitive(
        "⎕IO", ("indexorigin",), None, Role.CONSTANT,
        doc="The index origin of this file: 0, or 1 when the file's first statement is `⎕IO←1`.", examples=(("⎕IO", "0"),),
    ),
)  # fmt: skip
