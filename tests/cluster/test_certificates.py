"""Settings of Dask that are wrong, missing or changed: E710 that names the setting and the file, at home and in a worker."""

from __future__ import annotations

import os
import pickle
import ssl
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rho.backend.cluster.dask_settings import BadSettings, connection_context, listening_context
from rho.backend.cluster.membership import Membership, attach, start_resident
from rho.backend.cluster.wire import Lost, link_table
from rho.backend.cluster.worker import Resident
from rho.lang.diagnostics.model import RunFailed
from rho.tests.cluster.authorities import DAY, Signed, signed, written
from rho.tests.cluster.test_commands import WATCHDOG

pytestmark = pytest.mark.long

dask, distributed = pytest.importorskip("dask"), pytest.importorskip("distributed")
AUTHORITY, OTHER = signed(name="authority"), signed(name="another authority")
GOOD = signed(AUTHORITY)
SETTINGS = {"ca": "distributed.comm.tls.ca-file", "cert": "distributed.comm.tls.{}.cert", "key": "distributed.comm.tls.{}.key"}


def configured(files: dict[str, Any], role: str) -> dict[str, Any]:
    return {SETTINGS[name].format(role): value for name, value in files.items()}


def folder_in_its_place(path: str) -> None:
    os.remove(path)
    os.mkdir(path)


def pipe_in_its_place(path: str) -> None:
    os.remove(path)
    os.mkfifo(path)


def replaced(text: str) -> Callable[[str], None]:
    return lambda path: void(Path(path).write_text(text, encoding="ascii"))


def void(_: object) -> None:
    pass


EXPIRED, EARLY, STRANGE = signed(AUTHORITY, -2 * DAY, -DAY), signed(AUTHORITY, DAY, 2 * DAY), signed(OTHER)
DAMAGED = GOOD.text[:200] + "A" * 40 + GOOD.text[240:]
BREAKS: list[tuple[str, Callable[[str], None], str]] = [
    *((name, os.remove, "cannot be read: No such file") for name in SETTINGS),
    *((name, folder_in_its_place, "cannot be read: ") for name in SETTINGS),
    *((name, pipe_in_its_place, "cannot be read: ") for name in SETTINGS),
    *((name, replaced(""), "has not a ") for name in SETTINGS),
    *((name, replaced("zork\n"), "has not a ") for name in SETTINGS),
    ("key", replaced(GOOD.key_text(b"secret")), "has a passphrase, which nobody can type"),
    ("key", replaced(signed().key_text()), "is not the key of distributed.comm.tls."),
    ("key", replaced(GOOD.text), "has not a private key"),
    ("cert", replaced(GOOD.key_text()), "has not a certificate"),
    ("cert", replaced(DAMAGED), "cannot be used"),
    ("ca", replaced(DAMAGED), "has a certificate that cannot be used"),
    ("ca", replaced(OTHER.text), "would be refused: "),
]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are of POSIX")
@pytest.mark.parametrize("role", ["client", "worker"])
@pytest.mark.parametrize("which", range(len(BREAKS)))
def test_a_file_is_broken(tmp_path: Path, role: str, which: int) -> None:
    name, break_, words = BREAKS[which]
    files = written(tmp_path, AUTHORITY, GOOD)
    with dask.config.set(configured(files, role)):
        assert isinstance(connection_context(distributed.Security(), role), ssl.SSLContext)
        assert isinstance(listening_context(distributed.Security(), role), ssl.SSLContext)
        break_(files[name])
        for context in (connection_context, listening_context):
            with pytest.raises(BadSettings) as caught:
                context(distributed.Security(), role)
            assert words in str(caught.value) and files[name] in str(caught.value), str(caught.value)
            assert "distributed.comm.tls." in str(caught.value) and "; " in str(caught.value)


@pytest.mark.parametrize("role", ["client", "worker"])
@pytest.mark.parametrize(("one", "words"), [(EXPIRED, "expired"), (EARLY, "not yet valid"), (STRANGE, "issuer")])
def test_a_certificate_that_peers_refuse(tmp_path: Path, role: str, one: Signed, words: str) -> None:
    files = written(tmp_path, AUTHORITY, one)
    with dask.config.set(configured(files, role)), pytest.raises(BadSettings) as caught:
        connection_context(distributed.Security(), role)
    told = str(caught.value)
    assert words in told and files["cert"] in told and files["ca"] in told and f"tls.{role}.cert" in told


def refusal(where: str) -> str:
    with pytest.raises(RunFailed) as caught:
        attach(where)
    (one,) = caught.value.diagnostics
    assert one.code.name == "E710"
    return one.message


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("value", [3, ["a"], {"a": 1}, 1.5, True])
def test_a_setting_that_is_no_path(tmp_path: Path, name: str, value: object) -> None:
    files: dict[str, Any] = written(tmp_path, AUTHORITY, GOOD)
    with dask.config.set(configured(files | {name: value}, "client")):
        told = refusal("tls://127.0.0.1:1")
    assert SETTINGS[name].format("client") in told and repr(value) in told and "set DASK_DISTRIBUTED__COMM__TLS__" in told


@pytest.mark.parametrize("where", ["tcp://127.0.0.1:1", "local:1"])
@pytest.mark.parametrize(
    ("setting", "value"),
    [
        *(("require-encryption", value) for value in ("zork", 3)),
        *(("timeouts.connect", value) for value in ("zork", {})),
        ("timeouts.tcp", [1]),
    ],
)
def test_a_setting_of_connections(where: str, setting: str, value: object) -> None:
    with dask.config.set({f"distributed.comm.{setting}": value}):
        told = refusal(where)
    assert f"distributed.comm.{setting} is {value!r}" in told and "set DASK_DISTRIBUTED__COMM__" in told


@pytest.mark.parametrize("setting", ["tls.min-version", "tls.max-version"])
def test_a_version_that_is_none(setting: str) -> None:
    with dask.config.set({f"distributed.comm.{setting}": "zork"}):
        assert f"distributed.comm.{setting}" in refusal("tls://127.0.0.1:1")


def test_ciphers_that_are_none(tmp_path: Path) -> None:
    with dask.config.set(configured(written(tmp_path, AUTHORITY, GOOD), "client") | {"distributed.comm.tls.ciphers": "zork"}):
        assert "distributed.comm.tls" in refusal("tls://127.0.0.1:1")


@pytest.mark.parametrize("name", ["ca", "cert"])
def test_a_setting_that_is_missing(tmp_path: Path, name: str) -> None:
    files = written(tmp_path, AUTHORITY, GOOD)
    del files[name]
    with dask.config.set(configured(files, "client")):
        told = refusal("tls://127.0.0.1:1")
    assert told.endswith(f"Dask's configuration does not set {SETTINGS[name].format('client')}")


def test_text_in_place_of_paths() -> None:
    texts = {"ca": AUTHORITY.text, "cert": GOOD.text, "key": GOOD.key_text()}
    with dask.config.set(configured(texts, "client")):
        assert isinstance(connection_context(distributed.Security(), "client"), ssl.SSLContext)
    with dask.config.set(configured(texts | {"key": GOOD.key_text(b"secret")}, "client")):
        told = refusal("tls://127.0.0.1:1")
        assert "distributed.comm.tls.client.key has a passphrase" in told and "BEGIN" not in told


def test_a_key_beside_its_certificate(tmp_path: Path) -> None:
    files = written(tmp_path, AUTHORITY, GOOD)
    Path(files["cert"]).write_text(GOOD.text + GOOD.key_text(), encoding="ascii")
    del files["key"]
    with dask.config.set(configured(files, "client")):
        assert isinstance(connection_context(distributed.Security(), "client"), ssl.SSLContext)


def test_a_certificate_is_replaced_between_two_uses(tmp_path: Path) -> None:
    files = written(tmp_path, AUTHORITY, GOOD)
    with dask.config.set(configured(files, "client")):
        security = distributed.Security()
        for one, fits in ((GOOD, True), (STRANGE, False), (EXPIRED, False), (signed(AUTHORITY), True)):
            written(tmp_path, AUTHORITY, one)
            if fits:
                assert connection_context(security, "client") is not None
            else:
                with pytest.raises(BadSettings, match="would be refused"):
                    connection_context(security, "client")


def test_files_are_replaced_while_a_worker_listens(tmp_path: Path) -> None:
    """It keeps what it listened with, and so does a home that is attached; those that begin later read the new files."""
    files = written(tmp_path, AUTHORITY, GOOD)
    roles = ("worker", "client")
    with dask.config.set(configured(files, "worker") | configured(files, "client")):
        security = distributed.Security()

        def contexts() -> tuple[ssl.SSLContext | None, ...]:
            return listening_context(security, roles[0]), *(connection_context(security, role) for role in roles)

        accepting, connecting, attached = contexts()
        with closing(Resident("127.0.0.1", accepting, connecting)) as before:
            door = before.host, before.port, before.token
            assert link_table(door, attached).ns
            written(tmp_path, OTHER, signed(OTHER))
            assert link_table(door, attached).ns
            accepting, connecting, later = contexts()
            with pytest.raises(Lost, match="certificate"):
                link_table(door, later)
            with closing(Resident("127.0.0.1", accepting, connecting)) as after:
                assert link_table((after.host, after.port, after.token), later).ns
                with pytest.raises(Lost, match="certificate"):
                    link_table((after.host, after.port, after.token), attached)
            written(tmp_path, AUTHORITY, signed(AUTHORITY))  # a new certificate of the same authority
            assert link_table(door, connection_context(security, "client")).ns


class Reconfigured:
    """A client whose files are gone since it was made."""

    def __init__(self, security: Any) -> None:
        self.security = security


def test_a_client_of_the_caller(tmp_path: Path) -> None:
    files = written(tmp_path, AUTHORITY, GOOD)
    with dask.config.set(configured(files, "client")):
        security = distributed.Security()
    os.remove(files["key"])
    with pytest.raises(RunFailed, match="E710"):
        Membership(Reconfigured(security))


class Telling(Membership):
    """A cluster of one worker that raises this where it is to listen."""

    def __init__(self, error: Exception) -> None:
        self.error = error
        self.client = SimpleNamespace(wait_for_workers=lambda count, timeout: None, nthreads=lambda: {"tcp://w": 1})

    def _ask(self, question: Callable[..., Any], listed: Sequence[str], seconds: float) -> dict[str, Any]:
        return dict.fromkeys(listed, self.error if question is start_resident else 1)


def test_a_worker_whose_key_is_gone(tmp_path: Path) -> None:
    """Its words come to home in full, and it is not taken for one that is silent."""
    files = written(tmp_path, AUTHORITY, GOOD)
    with dask.config.set(configured(files, "worker")):
        worker = SimpleNamespace(security=distributed.Security(), address="tcp://127.0.0.1:1", memory_manager=None)
        os.remove(files["key"])
        with pytest.raises(BadSettings) as there:
            start_resident(worker)
    with pytest.raises(RunFailed) as caught:
        Telling(pickle.loads(pickle.dumps(there.value))).members()
    assert caught.value.diagnostics[0].message == f"worker tcp://w cannot listen: {there.value}"
    assert files["key"] in str(there.value)


@pytest.mark.parametrize(
    "text", ["a: [", "- a", "distributed: 3", "distributed:\n  comm: 3", "distributed:\n  comm:\n    tls: 3"]
)
@pytest.mark.parametrize("where", ["tls://127.0.0.1:1", "local:1"])
def test_a_configuration_that_is_none(tmp_path: Path, text: str, where: str) -> None:
    (tmp_path / "dask.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "p.rho").write_text("⎕←1\n", encoding="utf-8")
    words = [sys.executable, "-m", "rho", "run", "p.rho", "--cluster", where]
    env = {**os.environ, "DASK_CONFIG": str(tmp_path)}
    ran = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=WATCHDOG, stdin=subprocess.DEVNULL)
    if where == "local:1" and ran.returncode == 0:  # Dask's defaults and temporary keys need none of it
        assert (ran.stdout, ran.stderr) == ("1\n", "") and text[0] == "d"
        return
    assert ran.returncode == 1 and "E710" in ran.stderr and "Traceback" not in ran.stderr, ran.stderr
    assert "distributed" in ran.stderr or "onfig" in ran.stderr
