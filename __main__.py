"""`python -m rho` is `rho`."""

import sys

from .shell.start import main

sys.exit(main())
