"""What transformations that join nests make of small programs: one loop instead of two, and less scratch between them."""

from __future__ import annotations

from rho.backend.transform import loop_fusion, storage

CASES = {
    # ------------------------------------------------------------------------------------------ fusing
    "a map after a map": (loop_fusion.fuse_loops, """
        input x: f64[n] output y: f64[n] scratch t: f64[n]
        for i in 0..n vector { v = x[i] w: f64 = neg(v) t[i] = w }
        two: f64 = 2.0
        for j in 0..n vector { a = t[j] b: f64 = mul(a, two) y[j] = b }
        """, """
        input x: f64[n] output y: f64[n] scratch t: f64[n]
        two: f64 = 2.0
        for i in 0..n vector { v = x[i] w: f64 = neg(v) t[i] = w a = t[i] b: f64 = mul(a, two) y[i] = b }
        """),
    "two axes": (loop_fusion.fuse_loops, """
        output y: f64[n, m] scratch t: f64[n, m] one: f64 = 1.0
        for i in 0..n serial { for j in 0..m vector { t[i, j] = one } }
        for k in 0..n serial { for l in 0..m vector { a = t[k, l] y[k, l] = a } }
        """, """
        output y: f64[n, m] scratch t: f64[n, m] one: f64 = 1.0
        for i in 0..n serial { for j in 0..m vector { t[i, j] = one a = t[i, j] y[i, j] = a } }
        """),
    "a row of both": (loop_fusion.fuse_loops, """
        output y: f64[n, m] scratch t: f64[n, m] one: f64 = 1.0
        for i in 0..n serial { for j in 0..m vector { t[i, j] = one } }
        for k in 0..n serial { for l in 0..m vector { a = t[k, 0] y[k, l] = a } }
        """, """
        output y: f64[n, m] scratch t: f64[n, m] one: f64 = 1.0
        for i in 0..n serial { for j in 0..m vector { t[i, j] = one } for l in 0..m vector { a = t[i, 0] y[i, l] = a } }
        """),
    "what lies behind": (loop_fusion.fuse_loops, """
        output y: f64[n] scratch t: f64[n] one: f64 = 1.0
        for i in 0..n serial { t[i] = one }
        for k in 1..n serial { a = t[k - 1] y[k] = a }
        for l in 1..n serial { b = y[l - 1] y[l] = b }
        """, """
        output y: f64[n] scratch t: f64[n] one: f64 = 1.0
        for i in 0..n serial { t[i] = one }
        for k in 1..n serial { a = t[k - 1] y[k] = a b = y[k - 1] y[k] = b }
        """),
    "not what lies ahead": (loop_fusion.fuse_loops, """
        output y: f64[n] output t: f64[n + 1] one: f64 = 1.0
        for i in 0..n serial { t[i] = one }
        for k in 0..n serial { a = t[k + 1] y[k] = a }
        """, None),
    "not a sum of all": (loop_fusion.fuse_loops, """
        input x: i64[n] output y: i64[n]
        for i in 0..n vector carried (s: i64 = n -> s1 => r by add) { v = x[i] s1: i64 = add(s, v) }
        for k in 0..n vector { w = x[k] u: i64 = sub(w, r) y[k] = u }
        """, None),
    "not lanes that meet": (loop_fusion.fuse_loops, """
        output y: f64[n] output t: f64[n] one: f64 = 1.0
        for i in 1..n vector { t[i] = one }
        for k in 1..n vector { a = t[k - 1] y[k] = a }
        """, None),
    "one row later": (loop_fusion.fuse_loops, """
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
    "loops that end apart": (loop_fusion.fuse_loops, """
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
    "not three rows later": (loop_fusion.fuse_loops, """
        output y: f64[n + 3, m] scratch t: f64[n, m]
        for i in 0..n serial { for j in 0..m vector { a = y[i, j] t[i, j] = a } }
        for k in 0..n serial { for l in 0..m vector { b = t[k, l] y[k + 3, l] = b } }
        """, None),
    "not vectors later": (loop_fusion.fuse_loops, """
        output y: f64[n + 2] scratch t: f64[n]
        for i in 0..n serial { a = y[i] t[i] = a }
        for k in 0..n serial { b = t[k] y[k + 1] = b }
        """, None),
    # -------------------------------------------------------------------------------------- contracting
    "two rows": (storage.fold_storage, """
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
    "one row of a nest": (storage.fold_storage, """
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
    "not what a branch stored a round before": (storage.fold_storage, """
        output y: f64[n, m] scratch t: f64[n, m] one: f64 = 1.0
        for q in 0..2 serial { zero: i64 = 0 b: bool = eq:i64(q, zero) for i in 0..n serial {
            if b { for j in 0..m vector { t[i, j] = one } }
            for l in 0..m vector { a = t[i, l] y[i, l] = a }
        } }
        """, None),
    "not what a mask left out": (storage.fold_storage, """
        output y: f64[n, m] scratch t: f64[n, m] one: f64 = 1.0
        for q in 0..2 serial { zero: i64 = 0 b: bool = eq:i64(q, zero) for i in 0..n serial {
            for j in 0..m vector { t[i, j] = one if b }
            for l in 0..m vector { a = t[i, l] y[i, l] = a }
        } }
        """, None),
    "not what a shorter loop left out": (storage.fold_storage, """
        output y: f64[n, m] scratch t: f64[n, m] one: f64 = 1.0
        for q in 0..2 serial { for i in 0..n serial {
            for j in q..m vector { t[i, j] = one }
            for l in 0..m vector { a = t[i, l] y[i, l] = a }
        } }
        """, None),
    "not what a later row stores": (storage.fold_storage, """
        output y: f64[n, m] scratch t: f64[n + 1, m] one: f64 = 1.0
        for j1 in 0..m vector { t[0, j1] = one }
        for i in 0..n serial {
            for j in 0..m vector { t[i + 1, j] = one }
            for l in 0..m vector { a = t[i, l] y[i, l] = a }
        }
        """, None),
    "not what is read behind the loop": (storage.fold_storage, """
        output y: f64[n, m] scratch t: f64[n, m] one: f64 = 1.0
        for i in 0..n serial {
            for j in 0..m vector { t[i, j] = one }
            for l in 0..m vector { a = t[i, l] y[i, l] = a }
        }
        for k in 0..n serial { for o in 0..m vector { c = t[k, o] y[k, o] = c } }
        """, None),
    # --------------------------------------------------------------------------------------- forwarding
    "a row that is taken": (storage.forward_stores, """
        input a: f64[n, n] output y: f64[n] scratch t: f64[n]
        for i in 0..n serial { for j in 0..i vector { v = a[i, j] t[j] = v }
            for k in 0..i serial { w = t[k] u: f64 = neg(w) y[k] = u } }
        """, """
        input a: f64[n, n] output y: f64[n] scratch t: f64[n]
        for i in 0..n serial {
            for k in 0..i serial { place.1 = index k v.1 = a[i, place.1] w: f64 = convert(v.1) u: f64 = neg(w) y[k] = u } }
        """),
    "what is computed, under a mask": (storage.forward_stores, """
        input x: f64[n] output y: f64[n + 1] scratch t: f64[n] one: i64 = 1
        for j in 0..n vector { v = x[j] w: f64 = exp(v) t[j] = w }
        for k in 0..n + 1 serial { b: bool = ge:i64(k, one) u = t[k - 1] if b y[k] = u }
        """, """
        input x: f64[n] output y: f64[n + 1] scratch t: f64[n] one: i64 = 1
        for k in 0..n + 1 serial { b: bool = ge:i64(k, one)
            place.1 = index k - 1 v.1 = x[place.1] if b w.1: f64 = exp(v.1)
            zero.1: f64 = 0.0 item.1: f64 = select(b, w.1, zero.1) u: f64 = convert(item.1) y[k] = u }
        """),
    "by an index vector": (storage.forward_stores, """
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
    "where one arm of a branch loads it, or the other": (storage.forward_stores, """
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
    "in place": (storage.forward_stores, """
        output y: f64[n] scratch t: f64[n]
        for j in 0..n vector { v = y[j] t[j] = v }
        for k in 0..n vector { w = t[k] u: f64 = neg(w) y[k] = u }
        """, """
        output y: f64[n] scratch t: f64[n]
        for k in 0..n vector { place.1 = index k v.1 = y[place.1] w: f64 = convert(v.1) u: f64 = neg(w) y[k] = u }
        """),
    "not what is overwritten": (storage.forward_stores, """
        output y: f64[n] scratch t: f64[n]
        for j in 0..n vector { v = y[j] t[j] = v }
        for k in 0..n serial { w = t[n - 1 - k] u: f64 = neg(w) y[k] = u }
        """, None),
    "not what was overwritten before": (storage.forward_stores, """
        output y: f64[n] scratch t: f64[n] one: f64 = 1.0
        for j in 0..n vector { v = y[j] t[j] = v }
        y[0] = one
        for k in 0..n serial { w = t[k] u: f64 = neg(w) y[k] = u }
        """, None),
    "not a column that is read often": (storage.forward_stores, """
        input a: f64[n, n] output y: f64[n, n] scratch t: f64[n]
        for j in 0..n vector { v = a[j, 0] t[j] = v }
        for k in 0..n serial { for l in 0..n vector { w = t[l] y[k, l] = w } }
        """, None),
    "not what is computed often": (storage.forward_stores, """
        input x: f64[n] output y: f64[n, n] scratch t: f64[n]
        for j in 0..n vector { v = x[j] e: f64 = exp(v) t[j] = e }
        for k in 0..n serial { for l in 0..n vector { w = t[l] y[k, l] = w } }
        """, None),
}  # fmt: skip
