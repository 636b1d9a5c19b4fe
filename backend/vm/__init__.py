"""The virtual machine: turns a plan into instructions and runs them, in Python (`interpreter`) or in C (`encoder`, `run.c`)."""
