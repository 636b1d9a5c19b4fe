"""What transformations of a loop's own iterations make of small programs: in parts, in lanes, one by one, inside others."""

from __future__ import annotations

from rho.backend.transform import index_set_splitting, interchange, loop_shapes

CASES = {
    # ---------------------------------------------------------------------------------------- splitting
    "two halves": (index_set_splitting.split_index_sets, """
        output y: f64[n] input x: f64[m] one: f64 = 1.0
        for i in 0..n vector { p = index i b: bool = lt:i64(p, m) v = x[i] if b w: f64 = select(b, v, one) y[i] = w }
        """, """
        output y: f64[n] input x: f64[m] one: f64 = 1.0
        for i.1 in 0..min(n, m) vector { p.1 = index i.1 b.1: bool = lt:i64(p.1, m) v.1 = x[i.1] if b.1
            w.1: f64 = select(b.1, v.1, one) y[i.1] = w.1 }
        for i in max(0, m)..n vector { p = index i b: bool = lt:i64(p, m) v = x[i] if b w: f64 = select(b, v, one) y[i] = w }
        """),
    "a sum goes on": (index_set_splitting.split_index_sets, """
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
    "not a sum in the order of sums": (index_set_splitting.split_index_sets, """
        input x: f64[m] output y: f64[] none: f64 = -0.0
        for i in 0..16 vector carried (s: f64 = none -> s1 => r by add) {
            b: bool = lt:i64(i, m) v = x[i] if b w: f64 = select(b, v, none) s1: f64 = add(s, w) }
        y[] = r
        """, None),
    "not data": (index_set_splitting.split_index_sets, """
        output y: f64[n] input x: i64[n] one: f64 = 1.0
        for i in 0..n vector { p = x[i] b: bool = lt:i64(p, m) y[i] = one if b }
        """, None),
    "not what is stored": (index_set_splitting.split_index_sets, """
        output y: bool[n]
        for i in 0..n vector { b: bool = lt:i64(i, m) y[i] = b }
        """, None),
    "not for a branch around loops": (index_set_splitting.split_index_sets, """
        output y: f64[n, n] one: f64 = 1.0
        for i in 0..n serial { b: bool = lt:i64(i, m) if b { for j in 0..n vector { y[i, j] = one } } }
        """, None),
    "not loops that end early": (index_set_splitting.split_index_sets, """
        output y: f64[n] one: f64 = 1.0
        for i in 0..n serial until b { b: bool = lt:i64(i, m) y[i] = one if b }
        """, None),
    # -------------------------------------------------------------------------------------- vectorising
    "item by item": (loop_shapes.vectorise_loops, """
        input x: f64[n, m] output y: f64[n, m]
        for i in 0..n serial { for j in 0..m serial { v = x[i, j] y[i, j] = v } }
        """, """
        input x: f64[n, m] output y: f64[n, m]
        for i in 0..n serial { for j in 0..m vector { v = x[i, j] y[i, j] = v } }
        """),
    "from the row before": (loop_shapes.vectorise_loops, """
        output y: f64[n, m]
        for i in 1..n serial { for j in 0..m serial { v = y[i - 1, j] y[i, j] = v } }
        """, """
        output y: f64[n, m]
        for i in 1..n serial { for j in 0..m vector { v = y[i - 1, j] y[i, j] = v } }
        """),
    "not from the item before": (loop_shapes.vectorise_loops, """
        output y: f64[n, m]
        for i in 0..n serial { for j in 1..m serial { v = y[i, j - 1] y[i, j] = v } }
        """, None),
    "not down a column": (loop_shapes.vectorise_loops, """
        output y: f64[n, m] one: f64 = 1.0
        for j in 0..m serial { for i in 0..n serial { y[i, j] = one } }
        """, None),
    "not by data": (loop_shapes.vectorise_loops, """
        input k: i64[m] output y: f64[n, m] one: f64 = 1.0
        for i in 0..n serial { for j in 0..m serial { p = k[j] c: bool = lt:i64(p, m) z: i64 = 0 d: bool = ge:i64(p, z)
            b: bool = and(c, d) y[i, p] = one if b } }
        """, None),
    # ---------------------------------------------------------------------------------------- unrolling
    "three iterations": (loop_shapes.unroll_loops, """
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
    "a triangle": (loop_shapes.unroll_loops, """
        output y: f64[2, 2] one: f64 = 1.0
        for i in 0..2 serial { for j in 0..i serial { y[i, j] = one } }
        """, """
        output y: f64[2, 2] one: f64 = 1.0
        i.1 = index 0 i.2 = index 1 j.3 = index 0 y[i.2, j.3] = one
        """),
    "not a loop around a loop": (loop_shapes.unroll_loops, """
        output y: f64[3, n] one: f64 = 1.0
        for i in 0..3 serial { for j in 0..n vector { y[i, j] = one } }
        """, None),
    "not many": (loop_shapes.unroll_loops, "output y: f64[99] one: f64 = 1.0 for i in 0..99 serial { y[i] = one }", None),
    "not lanes": (loop_shapes.unroll_loops, "output y: f64[4] one: f64 = 1.0 for i in 0..4 vector { y[i] = one }", None),
    # -------------------------------------------------------------------------------------- interchanging
    "points that see only themselves": (interchange.interchange_loops, """
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
    "what a row has in common, which hoisting puts between the loops": (interchange.interchange_loops, """
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
    "iterations that know their number, on two items": (interchange.interchange_loops, """
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
    "points that see others": (interchange.interchange_loops, """
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
