"""The exact search: z3 refutes makespans, finds conflicts of directives and proves answers again.

The only package of the scheduler that uses z3, imported when first asked.  `search.refine` bisects, `conflict.find_conflict`
explains contradictions, `orders` does so for pure orders, `reprove.reprove` checks an answer's proof.
"""
