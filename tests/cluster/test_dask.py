"""Workers that Dask launches: from Python, with one of them killed, and by its commands with TLS."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import rho
from rho.shell.execution.clusters import ClusterConnection
from rho.tests.cluster.stored import cluster_plan, loaded
from rho.tests.cluster.test_commands import WATCHDOG, project, rho as command

pytestmark = pytest.mark.long

distributed = pytest.importorskip("distributed")
__all__ = ["project"]

TEXT = "input x : f64[n]\ny ← 1+x*2\noutput y\n⎕←+/y\n"
ON_A_WORKER = f"{TEXT}schedule {{\n  place y on worker\n}}\n"
"""However slow the links of a busy machine are measured to be."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[rho.Cluster]:
    with rho.Cluster("local:2") as made:
        yield made


def test_a_refusal_from_python_says_what_runs_in_tiles(cluster: rho.Cluster, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.ones(400_000))
    (tmp_path / "p.rho").write_text('input x : f64[n] ← "x.npy"\noutput s ← +/x×x\n', encoding="utf-8")
    program = rho.load(tmp_path / "p.rho", rho.Session(max_memory="2MB"))
    for given in ({}, {"x": np.ones(400_000)}):
        with pytest.raises(rho.Refused, match="E702") as refused:
            program.run(**given)
        assert "all of its inputs from files runs in tiles with `cluster=rho.Cluster(" in str(refused.value)
    assert program.run(cluster=cluster)["s"] == 400_000
    with pytest.raises(rho.Refused, match="E702") as refused:
        rho.compile("{⌽⍵}", rho.Session(max_memory="2MB"))(np.ones(400_000))
    assert "in tiles" not in str(refused.value)  # a function has no files


def test_from_python(cluster: rho.Cluster, tmp_path: Path) -> None:
    plain, program = loaded(tmp_path, TEXT), loaded(tmp_path, ON_A_WORKER)
    x = np.linspace(-1, 1, 3_000_001)
    alone = plain.run(x=x)
    client = cluster.connection.cluster.membership.client  # type: ignore[attr-defined]
    for _ in range(2):
        apart = program.run(x=x, cluster=cluster)
        assert apart["y"].tobytes() == alone["y"].tobytes() and apart.printed == alone.printed
    with pytest.raises(TypeError, match="plan"):
        program.run(x=x, cluster=cluster, plan=plain.plan(n=100))
    with rho.Cluster(client) as same:
        assert same.workers == cluster.workers
        busy = {queue.device for queue in cluster_plan(program).main.queues if queue.steps}
        lost = next(address for at, address in enumerate(same.workers) if f"w{at}" in busy)
        os.kill(client.run(os.getpid, workers=[lost])[lost], signal.SIGKILL)
        with pytest.warns(RuntimeWarning, match="a worker was lost: .*; the program runs (again with|on the) 1 left") as told:
            apart = program.run(x=x, cluster=same)
        assert [one.filename for one in told if "was lost" in str(one.message)] == [__file__]
        assert apart["y"].tobytes() == alone["y"].tobytes() and apart.printed == alone.printed


def test_a_closed_cluster_starts_no_workers(tmp_path: Path) -> None:
    once, program = rho.Cluster.__new__(rho.Cluster), loaded(tmp_path, TEXT)
    once.connection = ClusterConnection("local:1")  # type: ignore[attr-defined]  # which is connected to on first use
    for _ in range(2):
        once.close()
    uses = (lambda: program.run(x=np.ones(3), cluster=once), lambda: once.workers, lambda: once.dashboard, once.__enter__)
    for use in uses:
        with pytest.raises(ValueError, match=r"this cluster was closed, by .*: make another with rho.Cluster"):
            use()
    assert repr(once) == "<rho cluster: closed>"


def test_no_cluster() -> None:
    with pytest.raises(ValueError, match="local:2"):
        rho.Cluster("nowhere")
    with pytest.raises(ValueError, match="restarts"):
        rho.Cluster("local:2", restarts=-1)
    with pytest.raises(rho.RunFailed, match="E710") as failed:
        rho.Cluster("no/such.json")
    assert "┌" not in str(failed.value)  # it belongs to no text
    for count in ("0", "00", "99999"):
        with pytest.raises(ValueError, match=f"local:{count} is not possible: from 1 to 9999 workers"):
            rho.Cluster(f"local:{count}")


def test_a_script_without_a_guard_is_told_of_it(tmp_path: Path) -> None:
    (tmp_path / "bare.py").write_text("import rho\nrho.Cluster('local:1')\n", encoding="utf-8")
    ran = subprocess.run([sys.executable, "bare.py"], cwd=tmp_path, capture_output=True, text=True, timeout=WATCHDOG)
    assert ran.returncode and 'under `if __name__ == "__main__":`' in ran.stderr.splitlines()[-1]


def test_by_commands_with_tls(project: Path) -> None:
    """The keys of a temporary security, as files."""
    from distributed.security import Security

    made = Security.temporary()
    files = {"ca": made.tls_ca_file, "cert": made.tls_client_cert, "key": made.tls_client_key}
    for name, text in files.items():
        (project / f"{name}.pem").write_text(text, encoding="utf-8")
    keys = [part for name, option in (("ca", "--tls-ca-file"), ("cert", "--tls-cert"), ("key", "--tls-key"))
            for part in (option, f"{name}.pem")]  # fmt: skip
    common = [*keys, "--scheduler-file", "scheduler.json", "--no-dashboard", "--host", "127.0.0.1"]
    commands = [["dask_scheduler", "--protocol", "tls", "--port", "0"], ["dask_worker", "--nthreads", "1", "--nworkers", "2"]]
    started = []
    try:
        for name, *more in commands:
            words = [sys.executable, "-m", f"distributed.cli.{name}", *common, *more]
            started.append(subprocess.Popen(words, cwd=project, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True))
            while name == "dask_scheduler" and not (project / "scheduler.json").exists():
                assert started[0].poll() is None and started[0].stderr is not None
                started[0].stderr.readline()
        given = ["run", "p.rho", "--in", "x=x.npy", "--in", "m=m.npy", "--set", "scale=2"]
        alone = command(project, *given, "--out", "y=y0.npy", "--out", "z=z0.npy")
        tls = "DASK_DISTRIBUTED__COMM__TLS__"
        names = {"CA_FILE": "ca", "CLIENT__CERT": "cert", "CLIENT__KEY": "key"}
        env = {**os.environ, **{tls + option: f"{name}.pem" for option, name in names.items()}}
        written = ["--out", "y=y1.npy", "--out", "z=z1.npy"]
        words = [sys.executable, "-m", "rho", *given, *written, "--cluster", "scheduler.json", "--fast"]
        apart = subprocess.run(words, cwd=project, capture_output=True, text=True, timeout=WATCHDOG, env=env)
        assert (apart.returncode, apart.stdout, apart.stderr) == (0, alone.stdout, "")
        for name in "yz":
            assert (project / f"{name}0.npy").read_bytes() == (project / f"{name}1.npy").read_bytes()
        plain = command(project, *given, "--cluster", "scheduler.json", "--fast")
        assert plain.returncode == 1 and "E710" in plain.stderr
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            process.communicate(timeout=WATCHDOG)
