"""The judge of an execution (`judge`), and its two front ends: `schedule_checks` of a problem's schedule (with
`placement_checks`), and `plan_checks` of a program's plan.

It imports problems, plans and facts of the graph, and nothing that makes either (a contract of import-linter)."""
