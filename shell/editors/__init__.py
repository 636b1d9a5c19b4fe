"""Files for editors, made from the table of primitives: `python -m rho.shell.editors` writes them under `editors/`.

`words` sorts the table into classes; the other modules write them down as one editor wants them.  What is not generated
(the VS Code client, Neovim's start of the server) stands in `editors/` itself.  A test holds that what is committed is what
would be written.  `pygments_lexer` is used as it is, by Pygments' entry point.
"""
