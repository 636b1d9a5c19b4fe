"""What transformations of expressions make of small programs: what is computed, where, how often and how wide."""

from __future__ import annotations

from rho.backend.transform import redundancy, simplify

CASES = {
    # ------------------------------------------------------------------------------------------ narrowing
    "neighbours that are counted": (simplify.narrow_integers, """
        input x: bool[n] output y: bool[n] three: i64 = 3
        for i in 0..n vector { p = x[i] a: i64 = convert:bool(p) b: i64 = add(a, a) c: bool = eq:i64(b, three) y[i] = c }
        """, """
        input x: bool[n] output y: bool[n] three: i64 = 3 three.1: u8 = 3
        for i in 0..n vector { p = x[i] a: u8 = convert:bool(p) b: u8 = add(a, a) c: bool = eq:u8(b, three.1) y[i] = c }
        """),
    "scratch between nests, widened for a result": (simplify.narrow_integers, """
        input x: u8[n] output y: i64[n] scratch t: i64[n]
        for i in 0..n vector { p = x[i] a: i64 = convert:u8(p) b: i64 = mul(a, a) t[i] = b }
        for j in 0..n vector { q = t[j] r: i64 = add(q, q) y[j] = r }
        """, """
        input x: u8[n] output y: i64[n] scratch t: i32[n]
        for i in 0..n vector { p = x[i] a: i32 = convert:u8(p) b: i32 = mul(a, a) t[i] = b }
        for j in 0..n vector { q = t[j] r: i32 = add(q, q) r.1: i64 = convert:i32(r) y[j] = r.1 }
        """),
    "numbers of which nothing is known": (simplify.narrow_integers, """
        input x: i64[n] input z: bool[n] output y: i64[n]
        for i in 0..n vector { p = x[i] q = z[i] a: i64 = convert:bool(q) b: i64 = add(p, a) y[i] = b }
        """, None),
    "an index": (simplify.narrow_integers, """
        input x: u8[n] output y: f64[256] one: f64 = 1.0 k: i64 = 1
        for i in 0..n serial { p = x[i] a: i64 = convert:u8(p) b: i64 = sub(a, k) c: i64 = add(b, k) y[c] = one }
        """, None),
    "what grows from iteration to iteration": (simplify.narrow_integers, """
        input x: bool[n] output y: i64[] none: i64 = 0
        for i in 0..n serial carried (s: i64 = none -> t => u) { p = x[i] a: i64 = convert:bool(p) t: i64 = add(s, a) }
        y[] = u
        """, None),
    # ------------------------------------------------------------------------------------------ folding
    "a condition that bounds imply": (simplify.simplify, """
        output y: f64[n]
        for i in 0..n serial { p = index i zero = index 0 b: bool = ge:i64(p, zero) v: f64 = 1.0 y[p] = v if b }
        """, """
        output y: f64[n]
        for i in 0..n serial { zero = index 0 b: bool = true v: f64 = 1.0 y[i] = v }
        """),
    "a check that failed otherwise": (simplify.simplify, """
        output y: f64[n]
        top = index n b: bool = ge:i64(m, top) fail 1 if b c: bool = lt:i64(m, n) v: f64 = 1.0 y[0] = v if c fail 2 if b
        """, """
        output y: f64[n]
        b: bool = ge:i64(m, n) fail 1 if b c: bool = true v: f64 = 1.0 y[0] = v
        """),
    "a branch": (simplify.simplify, """
        output y: f64[n]
        b: bool = true v: f64 = 1.0
        if b { w: f64 = neg(v) } else { u: f64 = exp(v) } chosen (r: f64 = w | u)
        y[0] = r
        """, """
        output y: f64[n]
        b: bool = true v: f64 = 1.0 w: f64 = neg(v) y[0] = w
        """),
    "what changes nothing": (simplify.simplify, """
        input x: f64[n] output y: f64[n] none: f64 = -0.0 one: f64 = 1.0
        for i in 0..n serial { v = x[i] w: f64 = add(v, none) u: f64 = mul(one, w) y[i] = u }
        """, """
        input x: f64[n] output y: f64[n] none: f64 = -0.0 one: f64 = 1.0
        for i in 0..n serial { v = x[i] y[i] = v }
        """),
    "not a zero, which takes the sign of ¯0": (simplify.simplify, """
        input x: f64[n] output y: f64[n] zero: f64 = 0.0
        for i in 0..n serial { v = x[i] w: f64 = add(v, zero) y[i] = w }
        """, None),
    "a rotation": (simplify.simplify, """
        input x: f64[n]
        for i in 1..n - 1 serial { j = index i + 1 r: i64 = residue(n, j) v = x[r] }
        """, """
        input x: f64[n]
        for i in 1..n - 1 serial { j = index i + 1 r = index i + 1 v = x[i + 1] }
        """),
    "a clamp": (simplify.simplify, """
        input x: f64[n + 1]
        for i in 0..n serial { j = index i + 1 top = index n r: i64 = min(j, top) v = x[r] }
        """, """
        input x: f64[n + 1]
        for i in 0..n serial { j = index i + 1 v = x[i + 1] }
        """),
    "bounds": (simplify.simplify, """
        output y: f64[n]
        v: f64 = 1.0
        for i in max(0, 1, -1)..min(n, n + 1) serial { y[i] = v }
        for j in n..0 serial carried (s: f64 = v -> t => r) { t: f64 = neg(s) }
        y[0] = r
        """, """
        output y: f64[n]
        v: f64 = 1.0
        for i in 1..n serial { y[i] = v }
        y[0] = v
        """),
    # ----------------------------------------------------------------------------------------- hoisting
    "out of two loops": (redundancy.hoist_invariants, """
        input x: f64[n] output y: f64[n, m]
        for i in 0..n serial { for j in 0..m vector { v = x[i] two: f64 = 2.0 w: f64 = mul(v, two) y[i, j] = w } }
        """, """
        input x: f64[n] output y: f64[n, m] two: f64 = 2.0
        for i in 0..n serial { v = x[i] w: f64 = mul(v, two) for j in 0..m vector { y[i, j] = w } }
        """),
    "a loop of arithmetic": (redundancy.hoist_invariants, """
        input x: f64[n] output y: f64[n, m] one: f64 = 1.0
        for i in 0..n serial { v = x[i] for j in 0..m vector { for k in 0..9 serial carried (p: f64 = one -> q => r) until b
            { q: f64 = mul(p, v) b: bool = lt:f64(q, one) } y[i, j] = r } }
        """, """
        input x: f64[n] output y: f64[n, m] one: f64 = 1.0
        for i in 0..n serial { v = x[i] for k in 0..9 serial carried (p: f64 = one -> q => r) until b
            { q: f64 = mul(p, v) b: bool = lt:f64(q, one) } for j in 0..m vector { y[i, j] = r } }
        """),
    "not what may be outside": (redundancy.hoist_invariants, """
        input x: f64[n] output y: f64[m]
        for j in 0..m vector { v = x[n - 1] y[j] = v }
        """, None),
    "not what may fail": (redundancy.hoist_invariants, """
        input x: f64[n] output y: i64[m]
        for i in 0..n serial { v = x[i] for j in 0..m serial { w: i64 = floor:f64(v) check 1 y[j] = w } }
        """, None),
    "not what the loop writes": (redundancy.hoist_invariants, """
        output y: f64[n]
        for i in 0..n serial { for j in 0..n serial { v = y[i] y[j] = v } }
        """, None),
    "not what a branch computes": (redundancy.hoist_invariants, """
        input x: f64[n] output y: f64[n] b: bool = true
        for i in 0..n serial { for j in 0..n serial { if b { v = x[i] w: f64 = exp(v) y[j] = w } } }
        """, """
        input x: f64[n] output y: f64[n] b: bool = true
        for i in 0..n serial { v = x[i] for j in 0..n serial { if b { w: f64 = exp(v) y[j] = w } } }
        """),
    # ------------------------------------------------------------------------------------------ sharing
    "equal expressions": (redundancy.eliminate_common_subexpressions, """
        input x: f64[n] output y: f64[n]
        for i in 0..n serial { a = x[i] b = x[i] c: f64 = mul(a, b) d: f64 = mul(b, a) e: f64 = mul(a, a) f: f64 = add(c, e)
            g: f64 = add(d, f) y[i] = g }
        """, """
        input x: f64[n] output y: f64[n]
        for i in 0..n serial { a = x[i] c: f64 = mul(a, a) f: f64 = add(c, c) g: f64 = add(c, f) y[i] = g }
        """),
    "what was stored": (redundancy.eliminate_common_subexpressions, """
        output y: f64[n + 1]
        for i in 0..n serial { v: f64 = 1.0 y[i] = v y[i + 1] = v a = y[i] y[0] = a b = y[i] w: f64 = add(a, b) y[i] = w }
        """, """
        output y: f64[n + 1]
        for i in 0..n serial { v: f64 = 1.0 y[i] = v y[i + 1] = v y[0] = v b = y[i] w: f64 = add(v, b) y[i] = w }
        """),
    "not what a loop writes": (redundancy.eliminate_common_subexpressions, """
        output y: f64[n]
        a = y[0] for i in 0..n serial { b = y[0] c: f64 = neg(b) y[i] = c } d = y[0] e: f64 = add(a, d) y[0] = e
        """, None),
    # --------------------------------------------------------------------------------------------- dead
    "a store of what is there": (redundancy.eliminate_dead_code, """
        output y: f64[n] one: f64 = 1.0
        for i in 0..n serial { v = y[i] y[i] = v }
        for j in 0..n serial { w = y[j] y[0] = one y[j] = w }
        for k in 0..n - 1 serial { u = y[k] y[k + 1] = u }
        """, """
        output y: f64[n] one: f64 = 1.0
        for j in 0..n serial { w = y[j] y[0] = one y[j] = w }
        for k in 0..n - 1 serial { u = y[k] y[k + 1] = u }
        """),
    "stores that are overwritten": (redundancy.eliminate_dead_code, """
        input x: f64[n] output y: f64[n] output z: f64[n] one: f64 = 1.0
        for i in 0..n serial { v = x[i] y[i] = v y[i] = one z[i] = v w = z[i] z[i] = one y[0] = w }
        for j in 0..n serial { u = x[j] b: bool = lt:f64(u, one) y[j] = u y[j] = one if b z[j] = u fail 1 if b z[j] = one }
        """, """
        input x: f64[n] output y: f64[n] output z: f64[n] one: f64 = 1.0
        for i in 0..n serial { v = x[i] y[i] = one z[i] = v w = z[i] z[i] = one y[0] = w }
        for j in 0..n serial { u = x[j] b: bool = lt:f64(u, one) y[j] = u y[j] = one if b z[j] = u fail 1 if b z[j] = one }
        """),
    "scratch that nobody loads": (redundancy.eliminate_dead_code, """
        output y: f64[n] scratch t: f64[n]
        for i in 0..n serial carried (s: i64 = n -> s1 => r) {
            v: f64 = 1.0 w: f64 = neg(v) t[i] = w y[i] = v s1 = index s + 1 }
        """, """
        output y: f64[n]
        for i in 0..n serial { v: f64 = 1.0 y[i] = v }
        """),
    "checks stay": (redundancy.eliminate_dead_code, """
        input x: f64[n]
        for i in 0..n serial { v = x[i] w: i64 = floor:f64(v) check 1 u: f64 = neg(v) }
        """, """
        input x: f64[n]
        for i in 0..n serial { v = x[i] w: i64 = floor:f64(v) check 1 }
        """),
}  # fmt: skip
