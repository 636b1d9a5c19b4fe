"""The one meaning of a schedule: `step_expansion` makes the steps of a choice of modes, `serial_sgs` gives them their ticks in an
order, `step_graph` says which buffers live at each tick, and `fence_insertion` synchronises the queues.  Every heuristic, the
solver's models, repairs and pictures ask here."""
