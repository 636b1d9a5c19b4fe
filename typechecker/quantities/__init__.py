"""Quantities: how many times each element of a value is read, as intervals of formulas in the sizes (types.md section 4).

`grades` is the arithmetic, `demand` the backward analysis of a core, `contracts` the quantities that signatures state,
`facts` what a scheduler may conclude, `describe` how all this is shown.  Nothing here is needed to run a program.
"""
