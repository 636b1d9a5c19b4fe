"""`python -m rho.shell.jupyter -f CONNECTION_FILE`: what a front end starts."""

from .kernel import main

main()
