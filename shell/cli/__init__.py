"""The command line: its options and pages, streams and exit codes, and how a command ends.

`registry` lists the verbs, which live in `shell.verbs`; `main` beside this room picks one.
"""
