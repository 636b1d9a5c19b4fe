"""Algebra and selection on the phase graph: rules as data.

Neighbours: `table` (every rule), `rule` (how one is applied), `patterns` (what it looks for); `..passes` says when.
"""
