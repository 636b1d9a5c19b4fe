"""Runs the passes of a streamed plan: a thread reads tiles ahead (`ring`), the plan of a tile makes its results, partial
results are joined in the order of sums (`joining`), and what stays large goes to its file as it comes (`driver`).

Neighbours: `schedule.streams` (what is run), `executor` (for whom this is one step), `files.rows`, `files.sinks`.
"""
