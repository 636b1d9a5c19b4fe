"""What tests of clusters share: residents of this process, a cluster of two of them, and files that they read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import rho
from rho.tests.cluster.residents import Threads, cluster_of
from rho.tests.cluster.stored import zarr_folder


@pytest.fixture(scope="module")
def threads() -> Iterator[Threads]:
    made = Threads(4)
    yield made
    made.close()


@pytest.fixture
def cluster(threads: Threads) -> Iterator[rho.Cluster]:
    made = cluster_of(threads, 2)
    yield made
    made.connection.cluster.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, rng = tmp_path_factory.mktemp("files"), np.random.default_rng(5)
    x, m = rng.standard_normal(400_000), rng.standard_normal((3_000, 70))
    np.save(folder / "x.npy", x)
    np.save(folder / "m.npy", m)
    np.savez(folder / "a.npz", m=m, x=x)
    np.save(folder / "f.npy", np.asfortranarray(m))
    np.save(folder / "k.npy", np.arange(300_000, dtype=np.int32))
    zarr_folder(folder / "m.zarr", m)
    np.savetxt(folder / "m.csv", m, delimiter=",", fmt="%.5g")
    lines = [f'"a, ""{i}""\r\nb"; {item if i % 7 else ""}\r\n' for i, item in enumerate(x[:60_000].tolist())]
    (folder / "q.csv").write_text("name;price\r\n" + "".join(lines).rstrip(), encoding="utf-8", newline="")
    return folder
