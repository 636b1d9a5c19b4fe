"""Loop programs as text, and back: `parse(show(program)) == program`.

    program scan(n) given n - 1 {
      input x: f64[n]
      output y: f64[n] strided
      scratch t: f64[n, 2*n + 1] private
      half: f64 = 0.5                          # Constant; `bits 0x…` where the value does not say them
      zero: f64 = 0.0
      for i in 0..n serial carried (s: f64 = zero -> s1 => last) {
        j = index n - 1 - i                    # Number
        v = x[j] if keep                       # Load; the kind is the view's
        w: f64 = mul(s, half)                  # Apply; the compute kind after a colon where it is another: lt:f64(s, v)
        s1: f64 = add(w, v)                    # circular/1(v): its parameter; `check 2` after it: its check
        y[i] = s1 if keep                      # Store; `y[i] = s1 by add` joins
        fail 3 if bad (s, v)
        call 2 (x[j, 0:n]) into (y[0:n]) given (j)   # `start:count`, or one index
        if bad { … } else { … } chosen (r: f64 = a | b)
      }
    }

Bounds are `max(…)..min(…)` where there are several.  Carried values: name inside = initial -> yielded => result, `by add` for a
reduction; `step 4` stands after the range and `until ended` last.  A comment begins with `#`.

Neighbours: `writing`, `reading`, `literals`; `ir` (what is printed), tests (fixtures are texts).
"""

from __future__ import annotations

from .literals import float_bits, literal_value
from .reading import TextError, is_name, parse
from .writing import show, show_index, show_statement

__all__ = ["TextError", "float_bits", "is_name", "literal_value", "parse", "show", "show_index", "show_statement"]
