"""The last step behind `decide`: questions that normal form, bounds and small numbers leave open go to an SMT solver.

`question` writes a fact and its premises as SMT-LIB text over whole numbers, `verdicts` asks and keeps what was
answered, `cache` keeps it on disk between runs, and `child` runs `z3_leaf`, which alone imports z3, in a process of its
own from the first question that no cache answers.  Without z3 every question stays open; nothing else changes.
"""
