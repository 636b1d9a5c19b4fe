"""The phase graph: lowering from the core, passes, verification, binding to concrete sizes.

    graph = optimise(lower(core))        # sizes symbolic
    bound = bind(graph, sizes)           # numbers in, guards checked, peak memory known
    bound = settle(bound)                # the passes that need numbers
"""
