"""Programs that several tests of loops read: one text each, with the sizes that it takes."""

from __future__ import annotations

from typing import Final

SCAN: Final = """
program scan(n) {
  input x: f64[n]
  output y: f64[n]
  zero: f64 = 0.0
  half: f64 = 0.5
  for i in 0..n serial carried (s: f64 = zero -> s1 => last) {
    v = x[i]
    w: f64 = mul(s, half)
    s1: f64 = add(w, v)
    y[i] = s1
  }
}
"""

TRIANGLE: Final = """
program solve(n) {
  input a: f64[n, n] strided
  input b: f64[n]
  output x: f64[n]
  zero: f64 = 0.0
  for i in 0..n serial {
    for j in 0..i serial carried (s: f64 = zero -> s1 => sum) {
      l = a[i, j]
      xj = x[j]
      p: f64 = mul(l, xj)
      s1: f64 = add(s, p)
    }
    bi = b[i]
    d: f64 = sub(bi, sum)
    lii = a[i, i]
    q: f64 = div(d, lii)
    x[i] = q
  }
}
"""

STENCIL: Final = """
program edges(n, m, steps) given steps {
  input x: f64[n, m]
  output y: f64[n, m]
  scratch t: f64[n, m]
  third: f64 = 0.25
  one = index 1
  for i in 0..n parallel {
    for j in 0..m vector {
      v = x[i, j]
      t[i, j] = v
      y[i, j] = v
    }
  }
  for k in 0..steps serial {
    for i1 in 0..n parallel {
      row = index i1
      low: bool = ge:i64(row, one)
      bottom = index n - 1
      high: bool = lt:i64(row, bottom)
      rows: bool = and(low, high)
      for j1 in 0..m vector {
        column = index j1
        left: bool = ge:i64(column, one)
        edge = index m - 1
        right: bool = lt:i64(column, edge)
        columns: bool = and(left, right)
        inner: bool = and(rows, columns)
        a = t[i1 - 1, j1] if inner
        b = t[i1 + 1, j1] if inner
        c = t[i1, j1 - 1] if inner
        d = t[i1, j1 + 1] if inner
        ab: f64 = add(a, b)
        cd: f64 = add(c, d)
        abcd: f64 = add(ab, cd)
        mean: f64 = mul(abcd, third)
        here = t[i1, j1]
        new: f64 = select(inner, mean, here)
        y[i1, j1] = new
      }
    }
    for i2 in 0..n parallel {
      for j2 in 0..m vector {
        u = y[i2, j2]
        t[i2, j2] = u
      }
    }
  }
}
"""

BRANCHES: Final = """
program branches(n, k) given k, n - k {
  input p: bool[n]
  input x: i64[n]
  output y: i64[n]
  output sum: i64[]
  zero: i64 = 0
  big: i64 = 9223372036854775807
  two: f32 = 2.5
  odd: f32 = bits 0x7fc00001
  for i in 0..k vector carried (s: i64 = zero -> s1 => total by add) {
    v = x[i]
    s1: i64 = add(s, v)
  }
  sum[] = total
  for i1 in k..n step 2 serial carried (m: i64 = big -> m1 => least) until done {
    q = p[i1]
    w = x[i1]
    done: bool = eq:i64(w, total)
    fail 7 if done (w, i1)
    if q {
      w2: i64 = min(w, m)
    } else {
      f: f64 = convert:i64(w)
      g: f64 = circular/1(f)
      w3: i64 = floor:f64(g) check 2
    } chosen (m1: i64 = w2 | w3)
    y[i1] = m1 if q
  }
}
"""

ALL: Final = {"scan": SCAN, "triangle": TRIANGLE, "stencil": STENCIL, "branches": BRANCHES}
