"""Execution of plans with several queues: by the predicted clock, in threads, or across the processes of a cluster."""
