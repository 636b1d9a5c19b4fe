"""The one meaning of a schedule: `expand` makes the step graph of a choice of modes, `simulate` gives its steps their ticks in an
order, `memory` says what is in use at each tick.  Every heuristic, the solver's models, repairs and pictures ask here."""
