"""Scheduling problems from files, and answers to files: `instance/1` JSON, STG text, Auckland DOT, directive texts.

`read.read_instance` takes any of them; docs/instances.md is the format.  Everything here is pure data to pure data: no
planner is imported.
"""
