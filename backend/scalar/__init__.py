"""Scalar functions for back ends: `function_table` has a row for each function, joined by name with `typechecker.elements`; the
other modules have their definitions, written once for an abstract machine (`function_table.ScalarMachine`)."""
