"""Inputs from URLs, of which each worker reads its part from their server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from serving import Served, serving

import rho
from rho.backend.cluster.worker import HERE, visible_files
from rho.backend.devices.profile import CostTable
from rho.backend.io.external_arrays import stored_input
from rho.backend.io.reading import InputSpec
from rho.lang.syntax.source import Span
from rho.typechecker.elements import Kind

from .residents import Threads, cluster_of
from .stored import by_name, cluster_plan, failure, loaded, readers

pytestmark = pytest.mark.long

pytest.importorskip("fsspec")
pytest.importorskip("aiohttp")
QUICK = CostTable((1 << 20,), (500_000,))
SHARED = "input x : f64[n] ← \"{}\"\noutput y ← √1+x×x\nschedule {{\n  split y rows 1:1 over w0 w1\n}}\n"  # fmt: skip


@pytest.fixture
def cluster(threads: Threads) -> Iterator[rho.Cluster]:
    made = cluster_of(threads, 2)
    own = made.connection.cluster
    own.reading = dict.fromkeys((HERE, *(one.address for one in own.members)), QUICK)  # nothing is read to see how quick that is
    yield made
    made.connection.cluster.close()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    (tmp_path / "served").mkdir()
    with serving(tmp_path / "served") as made:
        yield made


@pytest.mark.parametrize("name", ["x.npy", "x.npz:a", "x.csv:price"])
def test_each_worker_reads_its_part(cluster: rho.Cluster, served: Served, tmp_path: Path, name: str) -> None:
    x, file = np.random.default_rng(1).standard_normal(200_000 if "csv" in name else 1_000_000), name.partition(":")[0]
    match file:
        case "x.npy":
            np.save(served.folder / file, x)
        case "x.npz":
            np.savez(served.folder / file, a=x)
        case _:
            lines = "".join(f'"a, b",{item!r}\r\n' for item in x.tolist())
            (served.folder / file).write_text(f"name,price\r\n{lines}", newline="")
    program = loaded(tmp_path, SHARED.format(served.url(name)))
    apart = program.run(cluster=cluster)
    assert readers(cluster_plan(program)) == {"w0", "w1"}
    passes = 2 if file == "x.csv" else 1  # one counts lines, at home
    assert served.sent[file] <= 1.05 * passes * (served.folder / file).stat().st_size
    assert by_name(apart) == by_name(program.run())


def test_what_is_read_to_see_how_quick_that_is_is_a_part_of_the_file(served: Served) -> None:
    """Each process does it.  The text of an item is longer than the item, and the file is larger than what a process keeps."""
    (served.folder / "w.csv").write_text("name,price\n" + f"{'a' * 100},1.5\n" * 120_000)
    url = served.url("w.csv")
    one = stored_input(url + ":price", InputSpec(Kind.F64, 1, Span("", 0, 0)), (120_000,))
    assert one is not None
    served.sent.clear()
    seen = visible_files([one], probe=True)
    assert len(seen["ns"]) == 2 and served.sent["w.csv"] <= 0.6 * (served.folder / "w.csv").stat().st_size


def test_a_footer_and_pages_are_fetched_once(cluster: rho.Cluster, served: Served, tmp_path: Path) -> None:
    """Of one group of rows, whose parts each open the file; home and workers are threads of one process here."""
    parquet, table = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow").table
    x = np.random.default_rng(1).standard_normal((70_000, 5))
    parquet.write_table(table({f"c{at}": column for at, column in enumerate(x.T)}), served.folder / "x.parquet")
    size = (served.folder / "x.parquet").stat().st_size
    program = loaded(
        tmp_path,
        f'input x : f64[n m] ← "{served.url("x.parquet")}"\noutput y ← √1+x×x\nschedule {{\n  split y rows 1:1 over w0 w1\n}}\n',
    )
    served.asked.clear()
    apart = program.run(cluster=cluster)
    assert served.sent["x.parquet"] <= 1.1 * size
    assert served.asked["GET"] <= 20 + size / (1 << 16) and served.asked["HEAD"] <= 20
    assert by_name(apart) == by_name(program.run())


def test_a_server_that_answers_otherwise_than_before(cluster: rho.Cluster, served: Served, tmp_path: Path) -> None:
    np.save(served.folder / "x.npy", np.arange(50_000.0))
    program = loaded(tmp_path, SHARED.format(served.url("x.npy")))
    program.run(cluster=cluster)
    home = cluster.connection.cluster
    attempt = home.attempt

    def late(*given: object) -> object:
        served.tag = '"2"'
        return attempt(*given)

    home.attempt = late
    assert "changed while it was read" in failure(lambda: program.run(cluster=cluster))[0][1]


def test_no_ranges(cluster: rho.Cluster, served: Served, tmp_path: Path) -> None:
    np.save(served.folder / "x.npy", np.arange(50_000.0))
    program = loaded(tmp_path, SHARED.format(served.url("x.npy", "whole")))
    alone = failure(program.run)
    assert "does not serve ranges" in alone[0][1]
    assert failure(lambda: program.run(cluster=cluster)) == alone
