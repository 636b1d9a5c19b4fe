"""The meaning of a schedule, used by all heuristics, the solver, repairs and charts.

`step_expansion` derives the steps of a choice of modes, `serial_sgs` assigns their ticks in the order of an activity list,
`step_graph` computes live ranges of buffers, and `fence_insertion` synchronises the queues."""
