"""Notebooks: a Jupyter kernel on the workspace of an interactive session, and `%%rho` cells in Python notebooks.

`notebook` answers a front end and knows no protocol; `kernel` is the only module that imports ipykernel, `magic` the only
one that imports IPython; `rendering` makes what a cell shows, `kernelspec` what is installed.
"""
