"""Between programs and the scheduler: a graph with sizes becomes a `Problem`, an answer becomes an `ExecutionPlan`.

`axis_choice` chooses the axis of each phase, `problem_from_program` builds the problem, `plan_from_schedule` makes the plan of an
answer and `schedule_from_plan` the schedule of a stored plan; `distributed_loop_search` decides which loops several devices run
together, with `iteration_plan` for one iteration, and `plan_program` does all of it in one call.
"""
