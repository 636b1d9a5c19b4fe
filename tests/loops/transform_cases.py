"""What each transformation makes of a small program: transformation, text before, text after (None: the same)."""

from __future__ import annotations

from rho.backend.loops.transform import (
    contracting,
    dead,
    folding,
    forwarding,
    fusing,
    hoisting,
    interchanging,
    narrowing,
    sharing,
    splitting,
    unrolling,
    vectorising,
)

CASES = {
    # ------------------------------------------------------------------------------------------ narrowing
    "neighbours that are counted": (narrowing, """
        input x: bool[n] output y: bool[n] three: i64 = 3
        for i in 0..n vector { p = x[i] a: i64 = convert:bool(p) b: i64 = add(a, a) c: bool = eq:i64(b, three) y[i] = c }
        """, """
        input x: bool[n] output y: bool[n] three: i64 = 3 three.1: u8 = 3
        for i in 0..n vector { p = x[i] a: u8 = convert:bool(p) b: u8 = add(a, a) c: bool = eq:u8(b, three.1) y[i] = c }
        """),
    "scratch between nests, widened for a result": (narrowing, """
        input x: u8[n] output y: i64[n] scratch t: i64[n]
        for i in 0..n vector { p = x[i] a: i64 = convert:u8(p) b: i64 = mul(a, a) t[i] = b }
        for j in 0..n vector { q = t[j] r: i64 = add(q, q) y[j] = r }
        """, """
        input x: u8[n] output y: i64[n] scratch t: i32[n]
        for i in 0..n vector { p = x[i] a: i32 = convert:u8(p) b: i32 = mul(a, a) t[i] = b }
        for j in 0..n vector { q = t[j] r: i32 = add(q, q) r.1: i64 = convert:i32(r) y[j] = r.1 }
        """),
    "numbers of which nothing is known": (narrowing, """
        input x: i64[n] input z: bool[n] output y: i64[n]
        for i in 0..n vector { p = x[i] q = z[i] a: i64 = convert:bool(q) b: i64 = add(p, a) y[i] = b }
        """, None),
    "an index": (narrowing, """
        input x: u8[n] output y: f64[256] one: f64 = 1.0 k: i64 = 1
        for i in 0..n serial { p = x[i] a: i64 = convert:u8(p) b: i64 = sub(a, k) c: i64 = add(b, k) y[c] = one }
        """, None),
    "what grows from iteration to iteration": (narrowing, """
        input x: bool[n] output y: i64[] none: i64 = 0
        for i in 0..n serial carried (s: i64 = none -> t => u) { p = x[i] a: i64 = convert:bool(p) t: i64 = add(s, a) }
        y[] = u
        """, None),
    # ------------------------------------------------------------------------------------------ folding
    "a condition that bounds imply": (folding, """
        output y: f64[n]
        for i in 0..n serial { p = index i zero = index 0 b: bool = ge:i64(p, zero) v: f64 = 1.0 y[p] = v if b }
        """, """
        output y: f64[n]
        for i in 0..n serial { zero = index 0 b: bool = true v: f64 = 1.0 y[i] = v }
        """),
    "a check that failed otherwise": (folding, """
        output y: f64[n]
        top = index n b: bool = ge:i64(m, top) fail 1 if b c: bool = lt:i64(m, n) v: f64 = 1.0 y[0] = v if c fail 2 if b
        """, """
        output y: f64[n]
        b: bool = ge:i64(m, n) fail 1 if b c: bool = true v: f64 = 1.0 y[0] = v
        """),
    "a branch": (folding, """
        output y: f64[n]
        b: bool = true v: f64 = 1.0
        if b { w: f64 = neg(v) } else { u: f64 = exp(v) } chosen (r: f64 = w | u)
        y[0] = r
        """, """
        output y: f64[n]
        b: bool = true v: f64 = 1.0 w: f64 = neg(v) y[0] = w
        """),
    "what changes nothing": (folding, """
        input x: f64[n] output y: f64[n] none: f64 = -0.0 one: f64 = 1.0
        for i in 0..n serial { v = x[i] w: f64 = add(v, none) u: f64 = mul(one, w) y[i] = u }
        """, """
        input x: f64[n] output y: f64[n] none: f64 = -0.0 one: f64 = 1.0
        for i in 0..n serial { v = x[i] y[i] = v }
        """),
    "not a zero, which takes the sign of ¯0": (folding, """
        input x: f64[n] output y: f64[n] zero: f64 = 0.0
        for i in 0..n serial { v = x[i] w: f64 = add(v, zero) y[i] = w }
        """, None),
    "a rotation": (folding, """
        input x: f64[n]
        for i in 1..n - 1 serial { j = index i + 1 r: i64 = residue(n, j) v = x[r] }
        """, """
        input x: f64[n]
        for i in 1..n - 1 serial { j = index i + 1 r = index i + 1 v = x[i + 1] }
        """),
    "a clamp": (folding, """
        input x: f64[n + 1]
        for i in 0..n serial { j = index i + 1 top = index n r: i64 = min(j, top) v = x[r] }
        """, """
        input x: f64[n + 1]
        for i in 0..n serial { j = index i + 1 v = x[i + 1] }
        """),
    "bounds": (folding, """
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
    "out of two loops": (hoisting, """
        input x: f64[n] output y: f64[n, m]
        for i in 0..n serial { for j in 0..m vector { v = x[i] two: f64 = 2.0 w: f64 = mul(v, two) y[i, j] = w } }
        """, """
        input x: f64[n] output y: f64[n, m] two: f64 = 2.0
        for i in 0..n serial { v = x[i] w: f64 = mul(v, two) for j in 0..m vector { y[i, j] = w } }
        """),
    "a loop of arithmetic": (hoisting, """
        input x: f64[n] output y: f64[n, m] one: f64 = 1.0
        for i in 0..n serial { v = x[i] for j in 0..m vector { for k in 0..9 serial carried (p: f64 = one -> q => r) until b
            { q: f64 = mul(p, v) b: bool = lt:f64(q, one) } y[i, j] = r } }
        """, """
        input x: f64[n] output y: f64[n, m] one: f64 = 1.0
        for i in 0..n serial { v = x[i] for k in 0..9 serial carried (p: f64 = one -> q => r) until b
            { q: f64 = mul(p, v) b: bool = lt:f64(q, one) } for j in 0..m vector { y[i, j] = r } }
        """),
    "not what may be outside": (hoisting, """
        input x: f64[n] output y: f64[m]
        for j in 0..m vector { v = x[n - 1] y[j] = v }
        """, None),
    "not what may fail": (hoisting, """
        input x: f64[n] output y: i64[m]
        for i in 0..n serial { v = x[i] for j in 0..m serial { w: i64 = floor:f64(v) check 1 y[j] = w } }
        """, None),
    "not what the loop writes": (hoisting, """
        output y: f64[n]
        for i in 0..n serial { for j in 0..n serial { v = y[i] y[j] = v } }
        """, None),
    "not what a branch computes": (hoisting, """
        input x: f64[n] output y: f64[n] b: bool = true
        for i in 0..n serial { for j in 0..n serial { if b { v = x[i] w: f64 = exp(v) y[j] = w } } }
        """, """
        input x: f64[n] output y: f64[n] b: bool = true
        for i in 0..n serial { v = x[i] for j in 0..n serial { if b { w: f64 = exp(v) y[j] = w } } }
        """),
    # ------------------------------------------------------------------------------------------ sharing
    "equal expressions": (sharing, """
        input x: f64[n] output y: f64[n]
        for i in 0..n serial { a = x[i] b = x[i] c: f64 = mul(a, b) d: f64 = mul(b, a) e: f64 = mul(a, a) f: f64 = add(c, e)
            g: f64 = add(d, f) y[i] = g }
        """, """
        input x: f64[n] output y: f64[n]
        for i in 0..n serial { a = x[i] c: f64 = mul(a, a) f: f64 = add(c, c) g: f64 = add(c, f) y[i] = g }
        """),
    "what was stored": (sharing, """
        output y: f64[n + 1]
        for i in 0..n serial { v: f64 = 1.0 y[i] = v y[i + 1] = v a = y[i] y[0] = a b = y[i] w: f64 = add(a, b) y[i] = w }
        """, """
        output y: f64[n + 1]
        for i in 0..n serial { v: f64 = 1.0 y[i] = v y[i + 1] = v y[0] = v b = y[i] w: f64 = add(v, b) y[i] = w }
        """),
    "not what a loop writes": (sharing, """
        output y: f64[n]
        a = y[0] for i in 0..n serial { b = y[0] c: f64 = neg(b) y[i] = c } d = y[0] e: f64 = add(a, d) y[0] = e
        """, None),
    # --------------------------------------------------------------------------------------------- dead
    "a store of what is there": (dead, """
        output y: f64[n] one: f64 = 1.0
        for i in 0..n serial { v = y[i] y[i] = v }
        for j in 0..n serial { w = y[j] y[0] = one y[j] = w }
        for k in 0..n - 1 serial { u = y[k] y[k + 1] = u }
        """, """
        output y: f64[n] one: f64 = 1.0
        for j in 0..n serial { w = y[j] y[0] = one y[j] = w }
        for k in 0..n - 1 serial { u = y[k] y[k + 1] = u }
        """),
    "stores that are overwritten": (dead, """
        input x: f64[n] output y: f64[n] output z: f64[n] one: f64 = 1.0
        for i in 0..n serial { v = x[i] y[i] = v y[i] = one z[i] = v w = z[i] z[i] = one y[0] = w }
        for j in 0..n serial { u = x[j] b: bool = lt:f64(u, one) y[j] = u y[j] = one if b z[j] = u fail 1 if b z[j] = one }
        """, """
        input x: f64[n] output y: f64[n] output z: f64[n] one: f64 = 1.0
        for i in 0..n serial { v = x[i] y[i] = one z[i] = v w = z[i] z[i] = one y[0] = w }
        for j in 0..n serial { u = x[j] b: bool = lt:f64(u, one) y[j] = u y[j] = one if b z[j] = u fail 1 if b z[j] = one }
        """),
    "scratch that nobody loads": (dead, """
        output y: f64[n] scratch t: f64[n]
        for i in 0..n serial carried (s: i64 = n -> s1 => r) {
            v: f64 = 1.0 w: f64 = neg(v) t[i] = w y[i] = v s1 = index s + 1 }
        """, """
        output y: f64[n]
        for i in 0..n serial { v: f64 = 1.0 y[i] = v }
        """),
    "checks stay": (dead, """
        input x: f64[n]
        for i in 0..n serial { v = x[i] w: i64 = floor:f64(v) check 1 u: f64 = neg(v) }
        """, """
        input x: f64[n]
        for i in 0..n serial { v = x[i] w: i64 = floor:f64(v) check 1 }
        """),
    # ------------------------------------------------------------------------------------------ fusing
    "a map after a map": (fusing, """
        input x: f64[n] output y: f64[n] scratch t: f64[n]
        for i in 0..n vector { v = x[i] w: f64 = neg(v) t[i] = w }
        two: f64 = 2.0
        for j in 0..n vector { a = t[j] b: f64 = mul(a, two) y[j] = b }
        """, """
        input x: f64[n] output y: f64[n] scratch t: f64[n]
        two: f64 = 2.0
        for i in 0..n vector { v = x[i] w: f64 = neg(v) t[i] = w a = t[i] b: f64 = mul(a, two) y[i] = b }
        """),
    "two axes": (fusing, """
        output y: f64[n, m] scratch t: f64[n, m] one: f64 = 1.0
        for i in 0..n serial { for j in 0..m vector { t[i, j] = one } }
        for k in 0..n serial { for l in 0..m vector { a = t[k, l] y[k, l] = a } }
        """, """
        output y: f64[n, m] scratch t: f64[n, m] one: f64 = 1.0
        for i in 0..n serial { for j in 0..m vector { t[i, j] = one a = t[i, j] y[i, j] = a } }
        """),
    "a row of both": (fusing, """
        output y: f64[n, m] scratch t: f64[n, m] one: f64 = 1.0
        for i in 0..n serial { for j in 0..m vector { t[i, j] = one } }
        for k in 0..n serial { for l in 0..m vector { a = t[k, 0] y[k, l] = a } }
        """, """
        output y: f64[n, m] scratch t: f64[n, m] one: f64 = 1.0
        for i in 0..n serial { for j in 0..m vector { t[i, j] = one } for l in 0..m vector { a = t[i, 0] y[i, l] = a } }
        """),
    "what lies behind": (fusing, """
        output y: f64[n] scratch t: f64[n] one: f64 = 1.0
        for i in 0..n serial { t[i] = one }
        for k in 1..n serial { a = t[k - 1] y[k] = a }
        for l in 1..n serial { b = y[l - 1] y[l] = b }
        """, """
        output y: f64[n] scratch t: f64[n] one: f64 = 1.0
        for i in 0..n serial { t[i] = one }
        for k in 1..n serial { a = t[k - 1] y[k] = a b = y[k - 1] y[k] = b }
        """),
    "not what lies ahead": (fusing, """
        output y: f64[n] output t: f64[n + 1] one: f64 = 1.0
        for i in 0..n serial { t[i] = one }
        for k in 0..n serial { a = t[k + 1] y[k] = a }
        """, None),
    "not a sum of all": (fusing, """
        input x: i64[n] output y: i64[n]
        for i in 0..n vector carried (s: i64 = n -> s1 => r by add) { v = x[i] s1: i64 = add(s, v) }
        for k in 0..n vector { w = x[k] u: i64 = sub(w, r) y[k] = u }
        """, None),
    "not lanes that meet": (fusing, """
        output y: f64[n] output t: f64[n] one: f64 = 1.0
        for i in 1..n vector { t[i] = one }
        for k in 1..n vector { a = t[k - 1] y[k] = a }
        """, None),
    "one row later": (fusing, """
        output y: f64[n + 2, m] scratch t: f64[n, m]
        for i in 0..n serial { for j in 0..m vector { a = y[i, j] t[i, j] = a } }
        for k in 0..n serial { for l in 0..m vector { b = t[k, l] y[k + 1, l] = b } }
        """, """
        output y: f64[n + 2, m] scratch t: f64[n, m]
        for i in 0..n + 1 serial {
            left.1 = index n - i - 1 nothing.1 = index 0 holds.1: bool = ge:i64(left.1, nothing.1)
            if holds.1 { for j in 0..m vector { a = y[i, j] t[i, j] = a } }
            left.2 = index i - 1 nothing.2 = index 0 holds.2: bool = ge:i64(left.2, nothing.2)
            if holds.2 { k = index i - 1 for l in 0..m vector { b = t[k, l] y[k + 1, l] = b } }
        }
        """),
    "loops that end apart": (fusing, """
        output y: f64[n, m] output z: f64[n, m] one: f64 = 1.0
        for i in 0..n serial { for j in 0..m vector { y[i, j] = one } }
        for k in 0..n - 1 serial { for l in 0..m vector { a = y[k, l] b = y[k + 1, l] c: f64 = add(a, b) z[k, l] = c } }
        """, """
        output y: f64[n, m] output z: f64[n, m] one: f64 = 1.0
        for i in 0..n serial {
            for j in 0..m vector { y[i, j] = one }
            left.1 = index i - 1 nothing.1 = index 0 holds.1: bool = ge:i64(left.1, nothing.1)
            if holds.1 { k = index i - 1 for l in 0..m vector { a = y[k, l] b = y[k + 1, l] c: f64 = add(a, b) z[k, l] = c } }
        }
        """),
    "not three rows later": (fusing, """
        output y: f64[n + 3, m] scratch t: f64[n, m]
        for i in 0..n serial { for j in 0..m vector { a = y[i, j] t[i, j] = a } }
        for k in 0..n serial { for l in 0..m vector { b = t[k, l] y[k + 3, l] = b } }
        """, None),
    "not vectors later": (fusing, """
        output y: f64[n + 2] scratch t: f64[n]
        for i in 0..n serial { a = y[i] t[i] = a }
        for k in 0..n serial { b = t[k] y[k + 1] = b }
        """, None),
    # -------------------------------------------------------------------------------------- contracting
    "two rows": (contracting, """
        output y: f64[n, m] scratch t: f64[n, m] one: f64 = 1.0
        for i in 0..n serial {
            for j in 0..m vector { t[i, j] = one }
            two: i64 = 2 b: bool = ge:i64(i, two)
            if b { for l in 0..m vector { a = t[i - 1, l] y[i, l] = a } }
        }
        """, """
        output y: f64[n, m] scratch t: f64[2, m] one: f64 = 1.0
        for i in 0..n serial {
            row.1 = index i rows.1: i64 = 2 slot.1: i64 = residue(rows.1, row.1)
            row.2 = index i - 1 rows.2: i64 = 2 slot.2: i64 = residue(rows.2, row.2)
            for j in 0..m vector { t[slot.1, j] = one }
            two: i64 = 2 b: bool = ge:i64(i, two)
            if b { for l in 0..m vector { a = t[slot.2, l] y[i, l] = a } }
        }
        """),
    "one row of a nest": (contracting, """
        output y: f64[n, m] scratch t: f64[n, m] one: f64 = 1.0
        for i in 0..n serial {
            for j in 0..m vector { t[i, j] = one }
            for l in 1..m vector { a = t[i, l - 1] y[i, l] = a }
        }
        """, """
        output y: f64[n, m] scratch t: f64[1, m] local one: f64 = 1.0
        for i in 0..n serial {
            for j in 0..m vector { t[0, j] = one }
            for l in 1..m vector { a = t[0, l - 1] y[i, l] = a }
        }
        """),
    "not what a branch stored a round before": (contracting, """
        output y: f64[n, m] scratch t: f64[n, m] one: f64 = 1.0
        for q in 0..2 serial { zero: i64 = 0 b: bool = eq:i64(q, zero) for i in 0..n serial {
            if b { for j in 0..m vector { t[i, j] = one } }
            for l in 0..m vector { a = t[i, l] y[i, l] = a }
        } }
        """, None),
    "not what a mask left out": (contracting, """
        output y: f64[n, m] scratch t: f64[n, m] one: f64 = 1.0
        for q in 0..2 serial { zero: i64 = 0 b: bool = eq:i64(q, zero) for i in 0..n serial {
            for j in 0..m vector { t[i, j] = one if b }
            for l in 0..m vector { a = t[i, l] y[i, l] = a }
        } }
        """, None),
    "not what a shorter loop left out": (contracting, """
        output y: f64[n, m] scratch t: f64[n, m] one: f64 = 1.0
        for q in 0..2 serial { for i in 0..n serial {
            for j in q..m vector { t[i, j] = one }
            for l in 0..m vector { a = t[i, l] y[i, l] = a }
        } }
        """, None),
    "not what a later row stores": (contracting, """
        output y: f64[n, m] scratch t: f64[n + 1, m] one: f64 = 1.0
        for j1 in 0..m vector { t[0, j1] = one }
        for i in 0..n serial {
            for j in 0..m vector { t[i + 1, j] = one }
            for l in 0..m vector { a = t[i, l] y[i, l] = a }
        }
        """, None),
    "not what is read behind the loop": (contracting, """
        output y: f64[n, m] scratch t: f64[n, m] one: f64 = 1.0
        for i in 0..n serial {
            for j in 0..m vector { t[i, j] = one }
            for l in 0..m vector { a = t[i, l] y[i, l] = a }
        }
        for k in 0..n serial { for o in 0..m vector { c = t[k, o] y[k, o] = c } }
        """, None),
    # --------------------------------------------------------------------------------------- forwarding
    "a row that is taken": (forwarding, """
        input a: f64[n, n] output y: f64[n] scratch t: f64[n]
        for i in 0..n serial { for j in 0..i vector { v = a[i, j] t[j] = v }
            for k in 0..i serial { w = t[k] u: f64 = neg(w) y[k] = u } }
        """, """
        input a: f64[n, n] output y: f64[n] scratch t: f64[n]
        for i in 0..n serial {
            for k in 0..i serial { place.1 = index k v.1 = a[i, place.1] w: f64 = convert(v.1) u: f64 = neg(w) y[k] = u } }
        """),
    "what is computed, under a mask": (forwarding, """
        input x: f64[n] output y: f64[n + 1] scratch t: f64[n] one: i64 = 1
        for j in 0..n vector { v = x[j] w: f64 = exp(v) t[j] = w }
        for k in 0..n + 1 serial { b: bool = ge:i64(k, one) u = t[k - 1] if b y[k] = u }
        """, """
        input x: f64[n] output y: f64[n + 1] scratch t: f64[n] one: i64 = 1
        for k in 0..n + 1 serial { b: bool = ge:i64(k, one)
            place.1 = index k - 1 v.1 = x[place.1] if b w.1: f64 = exp(v.1)
            zero.1: f64 = 0.0 item.1: f64 = select(b, w.1, zero.1) u: f64 = convert(item.1) y[k] = u }
        """),
    "by an index vector": (forwarding, """
        input a: f64[n, n + 1] output y: f64[n] scratch t: f64[n + 1] scratch q: i64[n]
        for i in 0..n serial { for j in 0..n + 1 vector { v = a[i, j] t[j] = v }
            for l in 0..n vector { m1 = index l + 1 q[l] = m1 }
            for k in 0..n serial { r = q[k] w = t[r] u: f64 = neg(w) y[k] = u } }
        """, """
        input a: f64[n, n + 1] output y: f64[n] scratch t: f64[n + 1] scratch q: i64[n]
        for i in 0..n serial {
            for k in 0..n serial { place.1 = index k m1.1 = index place.1 + 1 r: i64 = convert(m1.1)
                place.2 = index k + 1 v.1 = a[i, place.2] w: f64 = convert(v.1) u: f64 = neg(w) y[k] = u } }
        """),
    "where one arm of a branch loads it, or the other": (forwarding, """
        input x: f64[n] output y: f64[n] scratch t: f64[n] zero = index 0 b: bool = lt:i64(zero, m)
        for i in 0..n vector { v = x[i] w: f64 = neg(v) t[i] = w }
        if b { for j in 0..n serial { u = t[j] y[j] = u } }
        else { for k in 0..n serial { r = t[k] y[k] = r } for l in 0..n serial { s = t[l] y[l] = s } }
        """, """
        input x: f64[n] output y: f64[n] scratch t: f64[n] zero = index 0 b: bool = lt:i64(zero, m)
        if b {
          for j in 0..n serial { place.1 = index j v.1 = x[place.1] w.1: f64 = neg(v.1) u: f64 = convert(w.1) y[j] = u }
        } else {
          for k in 0..n serial { place.2 = index k v.2 = x[place.2] w.2: f64 = neg(v.2) r: f64 = convert(w.2) y[k] = r }
          for l in 0..n serial { place.3 = index l v.3 = x[place.3] w.3: f64 = neg(v.3) s: f64 = convert(w.3) y[l] = s }
        }
        """),
    "in place": (forwarding, """
        output y: f64[n] scratch t: f64[n]
        for j in 0..n vector { v = y[j] t[j] = v }
        for k in 0..n vector { w = t[k] u: f64 = neg(w) y[k] = u }
        """, """
        output y: f64[n] scratch t: f64[n]
        for k in 0..n vector { place.1 = index k v.1 = y[place.1] w: f64 = convert(v.1) u: f64 = neg(w) y[k] = u }
        """),
    "not what is overwritten": (forwarding, """
        output y: f64[n] scratch t: f64[n]
        for j in 0..n vector { v = y[j] t[j] = v }
        for k in 0..n serial { w = t[n - 1 - k] u: f64 = neg(w) y[k] = u }
        """, None),
    "not what was overwritten before": (forwarding, """
        output y: f64[n] scratch t: f64[n] one: f64 = 1.0
        for j in 0..n vector { v = y[j] t[j] = v }
        y[0] = one
        for k in 0..n serial { w = t[k] u: f64 = neg(w) y[k] = u }
        """, None),
    "not a column that is read often": (forwarding, """
        input a: f64[n, n] output y: f64[n, n] scratch t: f64[n]
        for j in 0..n vector { v = a[j, 0] t[j] = v }
        for k in 0..n serial { for l in 0..n vector { w = t[l] y[k, l] = w } }
        """, None),
    "not what is computed often": (forwarding, """
        input x: f64[n] output y: f64[n, n] scratch t: f64[n]
        for j in 0..n vector { v = x[j] e: f64 = exp(v) t[j] = e }
        for k in 0..n serial { for l in 0..n vector { w = t[l] y[k, l] = w } }
        """, None),
    # ---------------------------------------------------------------------------------------- splitting
    "two halves": (splitting, """
        output y: f64[n] input x: f64[m] one: f64 = 1.0
        for i in 0..n vector { p = index i b: bool = lt:i64(p, m) v = x[i] if b w: f64 = select(b, v, one) y[i] = w }
        """, """
        output y: f64[n] input x: f64[m] one: f64 = 1.0
        for i.1 in 0..min(n, m) vector { p.1 = index i.1 b.1: bool = lt:i64(p.1, m) v.1 = x[i.1] if b.1
            w.1: f64 = select(b.1, v.1, one) y[i.1] = w.1 }
        for i in max(0, m)..n vector { p = index i b: bool = lt:i64(p, m) v = x[i] if b w: f64 = select(b, v, one) y[i] = w }
        """),
    "a sum goes on": (splitting, """
        input x: i64[n] output y: i64[] zero: i64 = 0
        for i in 0..n vector carried (s: i64 = zero -> s1 => r by add) {
            b: bool = eq:i64(i, m) v = x[i] if b s1: i64 = add(s, v) }
        y[] = r
        """, """
        input x: i64[n] output y: i64[] zero: i64 = 0
        for i.1 in 0..min(n, m) vector carried (s.1: i64 = zero -> s1.1 => r.1 by add) {
            b.1: bool = eq:i64(i.1, m) v.1 = x[i.1] if b.1 s1.1: i64 = add(s.1, v.1) }
        for i.2 in max(0, m)..min(n, m + 1) vector carried (s.2: i64 = r.1 -> s1.2 => r.2 by add) {
            b.2: bool = eq:i64(i.2, m) v.2 = x[i.2] if b.2 s1.2: i64 = add(s.2, v.2) }
        for i in max(0, m, m + 1)..n vector carried (s: i64 = r.2 -> s1 => r by add) {
            b: bool = eq:i64(i, m) v = x[i] if b s1: i64 = add(s, v) }
        y[] = r
        """),
    "not a sum in the order of sums": (splitting, """
        input x: f64[m] output y: f64[] none: f64 = -0.0
        for i in 0..16 vector carried (s: f64 = none -> s1 => r by add) {
            b: bool = lt:i64(i, m) v = x[i] if b w: f64 = select(b, v, none) s1: f64 = add(s, w) }
        y[] = r
        """, None),
    "not data": (splitting, """
        output y: f64[n] input x: i64[n] one: f64 = 1.0
        for i in 0..n vector { p = x[i] b: bool = lt:i64(p, m) y[i] = one if b }
        """, None),
    "not what is stored": (splitting, """
        output y: bool[n]
        for i in 0..n vector { b: bool = lt:i64(i, m) y[i] = b }
        """, None),
    "not for a branch around loops": (splitting, """
        output y: f64[n, n] one: f64 = 1.0
        for i in 0..n serial { b: bool = lt:i64(i, m) if b { for j in 0..n vector { y[i, j] = one } } }
        """, None),
    "not loops that end early": (splitting, """
        output y: f64[n] one: f64 = 1.0
        for i in 0..n serial until b { b: bool = lt:i64(i, m) y[i] = one if b }
        """, None),
    # -------------------------------------------------------------------------------------- vectorising
    "item by item": (vectorising, """
        input x: f64[n, m] output y: f64[n, m]
        for i in 0..n serial { for j in 0..m serial { v = x[i, j] y[i, j] = v } }
        """, """
        input x: f64[n, m] output y: f64[n, m]
        for i in 0..n serial { for j in 0..m vector { v = x[i, j] y[i, j] = v } }
        """),
    "from the row before": (vectorising, """
        output y: f64[n, m]
        for i in 1..n serial { for j in 0..m serial { v = y[i - 1, j] y[i, j] = v } }
        """, """
        output y: f64[n, m]
        for i in 1..n serial { for j in 0..m vector { v = y[i - 1, j] y[i, j] = v } }
        """),
    "not from the item before": (vectorising, """
        output y: f64[n, m]
        for i in 0..n serial { for j in 1..m serial { v = y[i, j - 1] y[i, j] = v } }
        """, None),
    "not down a column": (vectorising, """
        output y: f64[n, m] one: f64 = 1.0
        for j in 0..m serial { for i in 0..n serial { y[i, j] = one } }
        """, None),
    "not by data": (vectorising, """
        input k: i64[m] output y: f64[n, m] one: f64 = 1.0
        for i in 0..n serial { for j in 0..m serial { p = k[j] c: bool = lt:i64(p, m) z: i64 = 0 d: bool = ge:i64(p, z)
            b: bool = and(c, d) y[i, p] = one if b } }
        """, None),
    # ---------------------------------------------------------------------------------------- unrolling
    "three iterations": (unrolling, """
        output y: f64[4] one: f64 = 1.0
        for i in 0..5 step 2 serial carried (s: f64 = one -> t => r) { t: f64 = neg(s) y[i] = t }
        y[1] = r
        """, """
        output y: f64[4] one: f64 = 1.0
        i.1 = index 0 t.1: f64 = neg(one) y[i.1] = t.1
        i.2 = index 2 t.2: f64 = neg(t.1) y[i.2] = t.2
        i.3 = index 4 t.3: f64 = neg(t.2) y[i.3] = t.3
        r: f64 = convert(t.3)
        y[1] = r
        """),
    "a triangle": (unrolling, """
        output y: f64[2, 2] one: f64 = 1.0
        for i in 0..2 serial { for j in 0..i serial { y[i, j] = one } }
        """, """
        output y: f64[2, 2] one: f64 = 1.0
        i.1 = index 0 i.2 = index 1 j.3 = index 0 y[i.2, j.3] = one
        """),
    "not a loop around a loop": (unrolling, """
        output y: f64[3, n] one: f64 = 1.0
        for i in 0..3 serial { for j in 0..n vector { y[i, j] = one } }
        """, None),
    "not many": (unrolling, "output y: f64[99] one: f64 = 1.0 for i in 0..99 serial { y[i] = one }", None),
    "not lanes": (unrolling, "output y: f64[4] one: f64 = 1.0 for i in 0..4 vector { y[i] = one }", None),
    # -------------------------------------------------------------------------------------- interchanging
    "points that see only themselves": (interchanging, """
        input c: f64[n] output x: f64[n, n]
        for t in 0..m serial { for i in 0..n serial { for j in 0..n vector {
            v = x[i, j] a = c[j] w: f64 = add(v, a) x[i, j] = w } } }
        """, """
        input c: f64[n] output x: f64[n, n]
        count.1 = index m none.1 = index 0 trips.1: i64 = max(count.1, none.1) few.1: i64 = 7 rest.1: i64 = band(trips.1, few.1)
        shift.1: i64 = 3 stretches.1: i64 = shr(shift.1, trips.1)
        for i in 0..n serial { for j in 0..n vector {
            item.1 = x[i, j]
            for t.1 in 0..rest.1 serial carried (item.2: f64 = item.1 -> w.1 => item.3) { a.1 = c[j] w.1: f64 = add(item.2, a.1) }
            for stretch.1 in 0..stretches.1 serial carried (item.4: f64 = item.3 -> item.6 => item.7) until same.1 {
                for t.2 in 0..8 serial carried (
                    item.5: f64 = item.4 -> w.2 => item.6, earlier.1: f64 = item.4 -> item.5 => earlier.2) {
                    a.2 = c[j] w.2: f64 = add(item.5, a.2) }
                same.1: bool = same:f64(item.6, earlier.2)
            }
            x[i, j] = item.7 } }
        """),
    "what a row has in common, which hoisting puts between the loops": (interchanging, """
        input d: f64[n] output x: f64[n, n]
        for t in 0..m serial { for i in 0..n serial { a = d[i] b: f64 = add(a, a) for j in 0..n vector {
            v = x[i, j] w: f64 = add(v, b) x[i, j] = w } } }
        """, """
        input d: f64[n] output x: f64[n, n]
        count.1 = index m none.1 = index 0 trips.1: i64 = max(count.1, none.1) few.1: i64 = 7 rest.1: i64 = band(trips.1, few.1)
        shift.1: i64 = 3 stretches.1: i64 = shr(shift.1, trips.1)
        for i in 0..n serial { for j in 0..n vector {
            item.1 = x[i, j]
            for t.1 in 0..rest.1 serial carried (item.2: f64 = item.1 -> w.1 => item.3) {
                a.1 = d[i] b.1: f64 = add(a.1, a.1) w.1: f64 = add(item.2, b.1) }
            for stretch.1 in 0..stretches.1 serial carried (item.4: f64 = item.3 -> item.6 => item.7) until same.1 {
                for t.2 in 0..8 serial carried (
                    item.5: f64 = item.4 -> w.2 => item.6, earlier.1: f64 = item.4 -> item.5 => earlier.2) {
                    a.2 = d[i] b.2: f64 = add(a.2, a.2) w.2: f64 = add(item.5, b.2) }
                same.1: bool = same:f64(item.6, earlier.2)
            }
            x[i, j] = item.7 } }
        """),
    "iterations that know their number, on two items": (interchanging, """
        input c: f64[m] output x: f64[n, 2]
        for t in 0..m serial { for i in 0..n vector {
            a = c[t] v = x[i, 0] w = x[i, 1] y: f64 = add(v, a) z: f64 = mul(w, v) x[i, 0] = z x[i, 1] = y } }
        """, """
        input c: f64[m] output x: f64[n, 2]
        for i in 0..n vector {
            item.1 = x[i, 0] item.2 = x[i, 1]
            for t.1 in 0..m serial carried (item.3: f64 = item.1 -> z.1 => item.5, item.4: f64 = item.2 -> y.1 => item.6) {
                a.1 = c[t.1] y.1: f64 = add(item.3, a.1) z.1: f64 = mul(item.4, item.3) }
            x[i, 0] = item.5 x[i, 1] = item.6 }
        """),
    "points that see others": (interchanging, """
        input c: f64[m, n] output x: f64[n + 1] output y: f64[n] one: f64 = 1.0
        for t in 0..m serial { for i in 0..n vector { v = x[i + 1] w: f64 = add(v, one) y[i] = w x[i] = w } }
        for t1 in 0..m serial { for i1 in 0..n vector { v1 = x[0] w1: f64 = add(v1, one) x[i1] = w1 } }
        for t2 in 0..m serial { for i2 in 0..n vector { y[i2] = one v2 = y[i2] w2: f64 = add(v2, one) x[i2] = w2 } }
        for t3 in 0..m serial { for i3 in 0..n vector { v3 = y[i3] a = c[t3, i3] w3: f64 = add(v3, a) y[i3] = w3 } }
        for t4 in 0..m serial { for i4 in 0..t4 vector { v4 = x[i4] w4: f64 = add(v4, one) x[i4] = w4 } }
        for t5 in 0..m serial { for k in 0..1 serial { b = x[k] for i5 in 0..n vector {
            v5 = x[i5] w5: f64 = add(v5, b) x[i5] = w5 } } }
        """, None),
}  # fmt: skip
