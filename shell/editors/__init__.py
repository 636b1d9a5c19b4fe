"""Generated files for editors: `python -m rho.shell.editors` writes them from the table of primitives into `editors/`.

`editors/` also has files that are not generated (the VS Code client, Neovim's start of the server).  A test compares the
committed files with the generated ones.  `pygments_lexer` is the entry point for Pygments. """
