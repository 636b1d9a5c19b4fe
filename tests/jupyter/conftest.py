"""Kernels in folders of their own; the tests are skipped where the extra `jupyter` and nbclient are not installed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def jupyter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the kernels `rho` and `python3` where Jupyter finds them, and nothing of the user's."""
    missing = [name for name in ("ipykernel", "jupyter_client", "nbclient", "nbformat") if find_spec(name) is None]
    if missing:
        pytest.skip(f"needs {', '.join(missing)}: the extra `dev` has them")
    from ipykernel.kernelspec import write_kernel_spec

    from rho.shell.jupyter.kernel import InstallLocation, install_kernelspec

    folder = tmp_path_factory.mktemp("jupyter")
    install_kernelspec("rho", InstallLocation(prefix=str(folder)))
    write_kernel_spec(folder / "share" / "jupyter" / "kernels" / "python3")
    patch = pytest.MonkeyPatch()
    for name, value in (
        ("JUPYTER_PATH", folder / "share" / "jupyter"), ("JUPYTER_RUNTIME_DIR", folder / "run"),
        ("IPYTHONDIR", folder / "ipython"),
        ("JUPYTER_CONFIG_DIR", folder / "config"), ("JUPYTER_DATA_DIR", folder / "data"), ("MPLCONFIGDIR", folder / "matplotlib"),
        ("PYTHONPATH", ":".join(path for path in sys.path if path)), ("JUPYTER_PLATFORM_DIRS", "1"),
    ):  # fmt: skip
        patch.setenv(name, str(value))
    yield folder
    patch.undo()
