"""Finding functions by words and by type: `rho search`, `)search`.

`catalogue` has everything that can be found; `words` ranks it for words, `types` reads types and `matching` compares them.
`elsewhere` and `idioms` are tables: what people call things in NumPy, JAX, Futhark and other APLs, and what Rho writes for them.
"""
