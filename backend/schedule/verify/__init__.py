"""One judge of an execution (`execution`, `judge`), and what translates: `schedules` of a problem, `plans` of a program.

It imports problems, plans and facts of the graph, and nothing that makes either (a contract of import-linter)."""
