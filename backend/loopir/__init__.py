"""The loop IR: data structures and builder (`ir`), text form, verifier, interpreter, affine facts, reductions and templates."""
