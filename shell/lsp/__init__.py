"""The language server: requests of editors, answered by plain functions of a document and a position.

`documents` has the open texts, their positions and check results; the other modules answer one kind of request each, without
types of the protocol.  Only `server` uses the protocol (pygls); `rho lsp` starts it.  Nothing here runs a program or reads data
beyond headers.
"""
