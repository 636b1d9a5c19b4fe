"""Notebooks: a Jupyter kernel on the workspace of an interactive session, and `%%rho` cells in Python notebooks.

`notebook` runs, completes and explains cells, without a protocol.  Only `kernel` imports ipykernel, only `magic` IPython.
"""
