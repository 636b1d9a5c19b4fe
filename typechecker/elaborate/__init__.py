"""Elaboration: from the bound tree to the typed core.

`programs` walks the statements; `expressions` gives values and `names` function values, which `applications` applies: primitives
through `typechecker.rules.table`, dfns by inlining (`functions`, `branches`), annotated functions through
`typechecker.signatures`, and each operator in the module of its family.  Everything is emitted through the `Builder`.
"""
