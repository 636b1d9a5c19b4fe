"""`python -m rho.shell` is `rho`."""

import sys

from .start import main

sys.exit(main())
