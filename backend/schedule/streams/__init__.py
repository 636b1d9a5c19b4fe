"""Programs whose inputs are larger than memory: which phases follow an input's rows, in which passes, in tiles of how many rows.

`tile_demands` has the passes as data, the rows that a tile needs, and the state that phases carry from tile to tile;
`pass_partitioning` says along which axis each value follows the inputs and where it ends; `tile_graph` makes the graph of one
tile, which is planned and run as any other; `stream_planning` chooses the rows of a tile and makes the plan; `verify_passes`
checks such a plan from the graph alone.
"""
