"""`python -m rho.shell.jupyter -f CONNECTION_FILE`: the command with which a front end starts the kernel."""

from .kernel import main

main()
