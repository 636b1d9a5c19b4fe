"""`python -m rho.shell` is `rho`."""

import sys

from .main import main

sys.exit(main())
