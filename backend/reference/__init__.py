"""The reference back end: per-element Python over the core, written to be obviously right.  See `interpreter.interpret`."""
