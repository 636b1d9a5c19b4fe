"""Programs whose inputs are larger than memory: which phases follow an input's rows, in which passes, in tiles of how many rows.

`passes` is the data, and what rows a tile needs; `carries` are phases in order; `flow` says along which axis each value follows
the inputs and where it ends; `tiles` makes the graph of one tile, which is planned and run as any other; `planning` chooses the
rows and makes the plan; `judge` checks such a plan from the graph alone.

Neighbours: `facts.sharding` (how a phase is cut), `graph.restriction` (a phase on a box), `backend.run.streams` (runs it).
"""
