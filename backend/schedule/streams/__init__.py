"""Planning of programs whose inputs are larger than memory (out-of-core): passes over the inputs in tiles of rows.

`tile_demands` has the passes as data, the rows that a tile needs, and the state carried from tile to tile; `pass_partitioning`
decides along which axis each value is tiled and in which pass it is computed; `tile_graph` makes the graph of one tile, which is
planned and run as any other; `stream_planning` chooses the rows of a tile and makes the plan; `pass_times` predicts
its time; `pass_checks` verifies it against the graph.
"""
