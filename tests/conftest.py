"""Tests keep no verdicts in the user's cache."""

import os

os.environ["RHO_VERDICTS"] = "off"
