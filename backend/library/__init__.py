"""What is not a loop: sorts, searches, selection, products, linear algebra, transforms, text; one `Operation` a registry row.

Names, shapes and costs of the operations are in `graph.registry`.  A module here says what some of them do on NumPy arrays, by
which kernels, with which functions of NumPy's, and how native code is bound to them.  Operands are read only and may be strided
views; a result never shares memory with one.  Operations that define a run-time size record it in the context.  Nothing warns:
the executor turns floating-point flags off.

Element semantics are those of `reference`, bit for bit except where `contract`, the transforms and linear algebra
sum in BLAS's order.
"""
