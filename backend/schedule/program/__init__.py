"""Programs and the scheduler: a bound graph becomes a `Problem`, a planner's answer becomes a `Plan`, and plans are checked.

`sharding` (which boxes a cut needs and makes), `problem_of` (graph and profile to problem), `plan_of` (answer to plan),
`checking` (a plan against the graph), `planning` (all of it in one call).
"""
