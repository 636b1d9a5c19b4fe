"""The state of an interactive session: names with computed values, functions as text, and the entries so far.

`workspace` runs entries, `entry_program` has the state and builds the program of an entry, `exchange` passes values to and from
Python and saves sessions.
"""
