"""Elaboration: the bound tree → the typed core.

`programs` walks the statements; `expressions` and `literals` give values; `resolve` gives function values,
which `applications` applies: primitives through `typechecker.rules.table`, dfns by expansion (`dfns`,
`branches`), annotated functions through `signatures`, and every operator in the module of its family.
Everything is emitted through the `Builder`; nothing here runs the program.
"""
