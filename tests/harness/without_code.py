"""For the rest of a test no machine code is loaded, as in a new process.

Launches hold the addresses of code.  A launch that outlived the table of addresses would have those of code that the process has
loaded twice, and comparisons of launches would fail in whichever test comes next.
"""

import sys

import pytest

from rho.backend.jit import compiler, tiering
from rho.backend.jit.compiler import LruCache


def forget_code(patch: pytest.MonkeyPatch) -> None:
    """Replace the table of addresses, the requests for code, and every cache of what may hold an address."""
    patch.setattr(compiler, "_addresses", {})
    patch.setattr(tiering, "_requests", {})
    for module in [module for name, module in sys.modules.items() if name.startswith("rho.backend.")]:
        for name, value in [*vars(module).items()]:
            if isinstance(value, LruCache):
                patch.setattr(module, name, LruCache(value.most))
