"""The loop IR: data structures, builders, text form, verifier, interpreter and affine facts."""
