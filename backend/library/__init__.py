"""Library operations, which are not loop programs: sorts, searches, selection, products, linear algebra, transforms, text.

`graph.registry` has their names, shapes and costs; each row has an `Operation` here, which implements it on NumPy arrays, with
kernels where they pay, and specializes it for native programs.  Operands are read-only and may be strided views; a result never
shares memory with an operand.  Operations that define a run-time size record it in the context.  Nothing warns: the executor
turns floating-point warnings off.

Results equal those of `reference` bit for bit, except where `contract`, the transforms and linear algebra sum in BLAS's order.
"""
