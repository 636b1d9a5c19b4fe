"""What back ends know of scalar functions: `table` has a row each, joined by name with `typechecker.scalars`; the other modules
are their meanings, written once for the abstract machine of `machine`."""
