"""Programs and the scheduler: a bound graph becomes a `Problem`, a planner's answer becomes a `Plan`, and plans are checked.

`axis_choice` chooses the axis of each phase, `problem_from_program` states the problem, `plan_from_schedule` makes the plan of an
answer and `schedule_from_plan` the schedule of a stored plan; `distributed_loops` decides which loops several devices run, and
`plan_program` does all of it in one call.
"""
