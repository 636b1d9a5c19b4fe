"""Pictures of values: `rho run --plot`, `)plot` and notebooks.

`drawable` says what can be drawn; `lines` and `shades` draw vectors and matrices with characters, `figures` with matplotlib.
"""
