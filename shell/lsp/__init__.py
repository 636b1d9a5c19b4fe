"""The language server: what editors ask about a program, answered by plain functions of a text and a place in it.

`places` counts as editors count, `documents` holds the open texts and checks them, `index` knows which name means what;
the other modules answer one kind of question each, without a type of the protocol.  `server` alone speaks it (pygls), and
`rho lsp` starts it.  Nothing here executes a program or reads data.
"""
