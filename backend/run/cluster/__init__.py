"""Plans on workers, which are processes of this or other machines that run the queues of their devices.

    cluster = Cluster(attach("local:2"))                    # `membership`: who is there
    results = cluster.run(program, plan_on, inputs)         # `home`: plan, ship, run, and again without those who left

Dask does membership, launching and encryption (`membership`, the one module that imports `distributed`).  The rest is done here:
each worker process has a `resident` with its own port; plans are sent as text (`shipping`); a process runs the steps of its
devices (`shares`); values, fences and sizes are sent between processes (`crossing`, `wire`).

Neighbours: `run.others` (what the loops of queues ask), `run.executor`.
"""
