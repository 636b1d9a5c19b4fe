"""Lower bounds on the makespan and on the other objectives: relaxations whose certificates are integers."""
