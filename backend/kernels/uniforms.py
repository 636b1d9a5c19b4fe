"""Uniform numbers of a key (`run.philox`) as LLVM text: Philox4x32-10 on a vector of blocks at a time.

Words: the vectors; the first block; the stream's low and high words; the address of the numbers, two a block; then for each round
both words of its key.

Neighbours: `store` (compiles it), `backend.run.cpu.uniforms` (calls it).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ...typechecker.elements import Kind
from .vectors import Vectors
from .writer import Writer, function_text

ROUNDS: Final = 10
HEAD: Final = 5
_MULTIPLIERS: Final = (0xD2511F53, 0xCD9E8D57)
_MASK: Final = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Uniforms:
    """`lanes`: blocks of a vector."""

    lanes: int

    def text(self) -> str:
        w = Writer()
        v = Vectors(w, self.lanes)
        i64 = Kind.I64

        def number(value: int) -> str:
            return v.constant(i64, value)

        def word(place: int, type: str = "i64") -> str:
            return w.let(f"load {type}, ptr {w.let(f'getelementptr i64, ptr %words, i64 {place}')}, align 8")

        w.label("start")
        count, first = word(0), word(1)
        stream = [v.splat(i64, word(2)), v.splat(i64, word(3))]
        out = word(4, "ptr")
        keys = [(v.splat(i64, word(HEAD + 2 * r)), v.splat(i64, word(HEAD + 2 * r + 1))) for r in range(ROUNDS)]
        loop = w.begin(0, count)
        start = w.word("add", first, w.word("mul", loop.index, self.lanes))
        blocks = v.binary("add", i64, v.splat(i64, start), v.counting())
        c0, c1 = v.binary("and", i64, blocks, number(_MASK)), v.binary("lshr", i64, blocks, number(32))
        c2, c3 = stream
        for k0, k1 in keys:
            even, odd = v.binary("mul", i64, c0, number(_MULTIPLIERS[0])), v.binary("mul", i64, c2, number(_MULTIPLIERS[1]))
            left, right = v.binary("xor", i64, c1, k0), v.binary("xor", i64, c3, k1)
            c0 = v.binary("xor", i64, v.binary("lshr", i64, odd, number(32)), left)
            c2 = v.binary("xor", i64, v.binary("lshr", i64, even, number(32)), right)
            c1, c3 = v.binary("and", i64, odd, number(_MASK)), v.binary("and", i64, even, number(_MASK))
        pair = []
        for high, low in ((c0, c1), (c2, c3)):
            top = v.binary("shl", i64, v.binary("lshr", i64, high, number(5)), number(26))
            bits = v.binary("or", i64, top, v.binary("lshr", i64, low, number(6)))
            whole = v.cast("sitofp", i64, Kind.F64, bits)
            pair.append(v.binary("fmul", Kind.F64, whole, v.constant(Kind.F64, 2.0**-53)))
        order = ", ".join(f"i32 {lane + column * self.lanes}" for lane in range(self.lanes) for column in (0, 1))
        type, both = v.type(Kind.F64), 2 * self.lanes
        mixed = w.let(f"shufflevector {type} {pair[0]}, {type} {pair[1]}, <{both} x i32> <{order}>")
        w.do(f"store <{both} x double> {mixed}, ptr {w.at(out, w.word('mul', loop.index, 8 * both))}, align 1")
        w.end(loop)
        w.do("ret i64 0")
        return function_text(w, ["entry:", "  br label %start", *w.lines])
