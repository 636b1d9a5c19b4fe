"""Random programs and random device profiles, from a seed: blocks that people write, tables that machines have.

Tables have steps (ten times dearer from one size to the next), plateaus, kinks, and here and there a fall, where a device begins
to use more of itself.  Break points lie anywhere, seldom at halves of what a program runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

Shapes = dict[str, tuple[int, ...]]


@dataclass(frozen=True)
class Drawn:
    """The text of a program, the shapes of its inputs, and the profile's TOML."""

    text: str
    shapes: Shapes
    profile: str


# ------------------------------------------------------------------------------------------ programs

SUMS = """input x : f64[n m]
+/x"""
MAP = """input x : f64[n m]
√1+x×x"""
COLUMNS = """input x : f64[n m]
+⌿x"""
PAIR = """input x : f64[n m]
input y : f64[n m]
z ← x×y
+/z-x"""
PRODUCT = """input a : f64[n k]
input b : f64[k m]
a+.×b"""
MLP = """input x : f32[n d]
input w : f32[d h]
input v : f32[h d]
u ← 0⌈x+.×w
x+u+.×v"""
NORM = """input x : f32[n d]
m ← (+/x)÷≢⍉x
e ← x-m
e÷√0.00001+(+/e×e)÷≢⍉x"""
SOFTMAX = """input x : f32[n d] where d ≥ 1
e ← *x-⌈/x
e÷+/e"""
KMEANS = """input x : f64[n d]
input c : f64[k d] where k ≥ 1
p ← (+/x×x)∘.+(+/c×c)
q ← p-2×x+.×⍉c
⌊/q"""
STENCIL = """input x : f64[n m]
a ← (1⊖x)+(¯1⊖x)+(1⌽x)+(¯1⌽x)
x+0.1×a-4×x"""
CONVOLUTION = """input x : f64[n m]
input w : f64[3 3]
a ← (w[0;0]×¯1↓¯1↓[1]x)+w[1;1]×1↓1↓[1]x
0⌈a+w[0;1]×¯1↓1↓[1]x"""
TRANSFORMER = """norm ← {
  c ← ≢⍉⍵
  e ← ⍵-(+/⍵)÷c
  e÷√0.00001+(+/e×e)÷c
}
softmax ← {
  e ← *⍵-⌈/⍵
  e÷+/e
}
input x : f32[t d] where t ≥ 1
input wq : f32[d d]
input wk : f32[d d]
input wv : f32[d d]
input wo : f32[d d]
input w1 : f32[d f]
input w2 : f32[f d]
t ← ≢x ⋄ d ← ≢⍉x
heads ← {1 0 2⍉(t HEADS (⌊d÷HEADS))⍴⍵}
n ← norm x
s ← softmax ((heads n+.×wq) +.×⍤2 2 ⊢ 0 2 1⍉heads n+.×wk)÷√128.0
r ← x+((t d)⍴1 0 2⍉ s +.×⍤2 2 ⊢ heads n+.×wv)+.×wo
u ← (norm r)+.×w1
r+(u×0.5×1+7○0.797885×u+0.044715×u×u×u)+.×w2"""


def program(r: Random, *, small: bool = False) -> tuple[str, Shapes]:
    """A block and its sizes; `small`: one or two phases of so few rows that all splits can be tried."""
    kind = r.choice(("sums", "map", "columns", "pair") if small else BLOCKS)
    return block(r, kind, small=small)


BLOCKS = (
    "sums",
    "map",
    "columns",
    "pair",
    "product",
    "mlp",
    "norm",
    "softmax",
    "kmeans",
    "stencil",
    "convolution",
    "transformer",
)


def block(r: Random, kind: str, *, small: bool = False) -> tuple[str, Shapes]:
    """A block of a kind, with sizes."""
    rows = r.randint(3, 24) if small else r.choice((r.randint(2, 60), r.randint(60, 3000), r.randint(3000, 90_000)))
    across = r.choice((1, 7, 100, 1000)) if small else r.choice((1, 3, 16, 100, 257))
    table = {"x": (rows, across)}
    match kind:
        case "sums":
            return SUMS, table
        case "map":
            return MAP, table
        case "columns":
            return COLUMNS, table
        case "pair":
            return PAIR, {**table, "y": (rows, across)}
        case "product":
            inner = r.choice((8, 64, 500))
            return PRODUCT, {"a": (rows, inner), "b": (inner, across)}
        case "mlp":
            hidden = r.choice((16, 256, 1500))
            return MLP, {"x": (rows, across), "w": (across, hidden), "v": (hidden, across)}
        case "norm":
            return NORM, table
        case "softmax":
            return SOFTMAX, table
        case "kmeans":
            return KMEANS, {**table, "c": (r.choice((2, 10, 64)), across)}
        case "stencil":
            return STENCIL, table
        case "convolution":
            return CONVOLUTION, {"x": (max(2, rows), max(2, across)), "w": (3, 3)}
        case _:
            tokens, heads = r.choice((1, 33, 128, 512, 2048)), r.choice((1, 4, 32))
            model, hidden = r.choice((1, 16, 128)) * heads, r.choice((64, 1000, 11008))
            shapes = dict.fromkeys(("wq", "wk", "wv", "wo"), (model, model))
            text = TRANSFORMER.replace("HEADS", str(heads))
            return text, {"x": (tokens, model), **shapes, "w1": (model, hidden), "w2": (hidden, model)}


# ------------------------------------------------------------------------------------------ profiles

OPERATIONS = (
    "add", "multiply", "divide", "compare", "select", "transcendental", "copy", "cast", "reduce.add.row", "reduce.add.col",
    "reduce.add.short", "reduce.max.row", "reduce.min", "gemm", "gemm.tall", "gemv", "join", "pad",
)  # fmt: skip
NEEDED = (
    "add", "multiply", "divide", "transcendental", "reduce", "gemm", "copy", "compare", "logic", "select", "cast", "scatter",
)  # fmt: skip


def table(r: Random, most: int, speed: float) -> tuple[list[int], list[int]]:
    """Sizes and times with steps, plateaus, kinks and seldom a fall."""
    size, ns = r.randint(8, max(9, most // 50)), 0.0
    sizes, times = [size], [max(1, int(size * speed))]
    ns = float(times[0])
    for _ in range(r.randint(1, 6)):
        shape, grows = r.choice(("step", "plateau", "kink", "kink", "smooth", "fall")), r.uniform(1.05, 6)
        if shape == "step":
            grows = r.uniform(1.001, 1.2)
        size = max(sizes[-1] + 1, int(size * grows))
        ns *= {"step": r.uniform(3, 12), "plateau": 1.0, "kink": grows ** r.uniform(0.2, 2.5), "smooth": grows,
               "fall": r.uniform(0.4, 1.0)}[shape]  # fmt: skip
        sizes.append(size)
        times.append(max(1, int(ns)))
    return sizes, times


def profile(r: Random, most: int, *, devices: int | None = None, linked: bool | None = None) -> str:
    """A home and one to three other devices, tables of which bend below and around `most` bytes."""
    count = devices or r.randint(2, 4)
    linked = r.random() < 0.6 if linked is None else linked
    lines = ['schema = "device-profile/1"']
    if r.random() < 0.2:
        lines.append("power_off_unused = true")
    for place in range(count):
        several = place > 0 and r.random() < 0.15
        lines += [
            "[[device]]",
            f'name = "d{place}"',
            f'class = "k{place}"',
            'backend = "cpu"',
            f"home = {str(place == 0).lower()}",
        ]
        lines += [f"count = {r.randint(2, 3)}"] if several else []
        lines += [f"{name} = {r.choice((0, 0, r.randint(1, 20_000)))}" for name in ("launch_ns", "sync_ns", "host_dispatch_ns")]
        if r.random() < 0.2:
            lines.append(f"memory_bytes = {r.randint(2 * most, 40 * most) + 4_000_000}")
        lines.append(f"power = {{ idle_w = {r.randint(1, 50)}.0, active_w = {r.randint(50, 300)}.0 }}")
        speed = r.choice((0.05, 0.25, 0.5, 1.0, 1.0, 4.0))
        names = [*NEEDED, *(name for name in OPERATIONS if r.random() < 0.3)]
        for name in dict.fromkeys(names):
            for kind in ("f64", "f32") if r.random() < 0.3 else ("f64",):
                sizes, times = table(r, most, speed * r.uniform(0.5, 2))
                lines += [f'[device.op."{name}.{kind}"]', f"size = {sizes}", f"ns = {times}"]
    if linked:
        ends = [(0, place) for place in range(1, count)]
        ends += [(1, 2)] if count > 2 and r.random() < 0.4 else []
        for a, b in ends:
            size, latency = r.randint(1000, max(2000, most)), r.choice((0, 0, r.randint(1, 9000)))
            lines += ["[[link]]", f'from = "d{a}"', f'to = "d{b}"', f"latency_ns = {latency}"]
            if r.random() < 0.8:
                slow = r.choice((0.01, 0.1, 1.0))
                lines += [
                    f"size = [{max(1, size // 100)}, {size}]",
                    f"ns = [{latency + 1}, {latency + max(2, int(size * slow))}]",
                ]
            lines.append(f'duplex = "{r.choice(("half", "full"))}"')
            lines += [f'group = "{r.choice(("bus", "nic[i]"))}"'] if r.random() < 0.3 else []
            lines.append(f"energy_pj_per_byte = {r.choice((0, 60))}")
    return "\n".join(lines)


def drawn(seed: int, *, small: bool = False, linked: bool | None = None, kind: str | None = None) -> Drawn:
    """A program and a profile for it."""
    r = Random(seed)
    text, shapes = program(r, small=small) if kind is None else block(r, kind, small=small)
    most = 8 * max(a * b for a, b in shapes.values())
    return Drawn(text, shapes, profile(r, most, linked=linked, devices=r.randint(2, 3) if small else None))
