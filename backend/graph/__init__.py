"""The phase graph: lowering from the core, passes, verification, binding to concrete sizes.

    graph = optimise(lower(core))        # sizes symbolic
    bound = bind(graph, sizes)           # numbers in, guards checked, peak memory known
    bound = optimise_with_sizes(bound)   # the passes that need numbers
"""
