"""Facts about sizes: obligations, the prover, the SMT solver, guards, and the reports of what is not proved."""
