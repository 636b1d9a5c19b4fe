"""Tests keep no verdicts in the user's cache and draw the same examples every time (HYPOTHESIS_PROFILE=search: new ones)."""

import os

from hypothesis import settings

os.environ["RHO_VERDICTS"] = "off"
settings.register_profile("gate", derandomize=True)
settings.register_profile("search")
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "gate"))
