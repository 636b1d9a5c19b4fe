"""Plans on workers: processes, of this machine or of others, that run the queues of their devices.

    cluster = Cluster(attach("local:2"))                    # `membership`: who is there
    results = cluster.run(program, plan_on, inputs)         # `home`: plan, ship, run, and again without those who left

Membership, launching and encryption are Dask's (`membership`, the one module that imports `distributed`); everything else is done
here: each worker process has a `resident` that listens at a port of its own; plans are shipped as text (`shipping`); a process
runs the steps of its devices (`shares`), and values, fences and sizes go from process to process (`crossing`, `wire`).

Neighbours: `run.others` (what the loops of queues ask), `run.executor`.
"""
