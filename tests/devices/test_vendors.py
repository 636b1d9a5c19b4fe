"""A back end of another package, as docs/back-ends.md says: listed, planned for, run and checked; a broken one is named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rho.backend.codegen import gpu_targets
from rho.backend.devices.profile_toml import read_profile
from rho.backend.gpu import device
from rho.lang.diagnostics.model import Refused
from rho.shell.main import main
from rho.shell.verbs import devices
from rho.tests.devices.opencl_devices import DEVICES, needs_opencl

pytestmark = pytest.mark.long

KIND = """
from rho.backend.codegen.gpu_targets import OPENCL
from rho.backend.gpu import opencl
from rho.backend.gpu.driver import CardKind

class AcmeDriver(opencl.OpenClDriver):
    def __init__(self, number):
        super().__init__(number)
        self.name = f"acme{number}"

KIND = CardKind("acme", OPENCL, lambda: opencl.gpus()[:1], AcmeDriver, lambda: "Acme: a board")
"""
PROFILE = 'schema = "device-profile/1"\n\n[[device]]\nname = "acme0"\nclass = "gpu"\nbackend = "{}"\nhome = true\n' \
    "roofline = {{ flops = 1000000000, bandwidth = 1000000000 }}\n"  # fmt: skip


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package with a back end, and one with a broken one."""
    (tmp_path / "acme_cards.py").write_text(KIND, encoding="utf-8")
    facts = tmp_path / "acme-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n", encoding="utf-8")
    points = "[rho.cards]\nacme = acme_cards:KIND\nrusty = acme_cards:NOTHING\n"
    (facts / "entry_points.txt").write_text(points, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(device, "_cards", {})
    gpu_targets.vendors.cache_clear()
    yield
    gpu_targets.vendors.cache_clear()


def test_a_back_end_without_its_package_is_refused() -> None:
    with pytest.raises(Refused, match=r'must be one of cpu, cuda, opencl, not "acme"'):
        read_profile("p", PROFILE.format("acme"))


@pytest.mark.usefixtures("installed")
def test_a_broken_package_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert read_profile("p", PROFILE.format("acme")).home.backend == "acme"
    with pytest.raises(Refused, match=r"`acme_cards:NOTHING` cannot be loaded: .*NOTHING"):
        read_profile("p", PROFILE.format("rusty"))
    assert main(["info"]) == 0
    told = capsys.readouterr().out
    assert "Acme: a board" in told and "rusty: `acme_cards:NOTHING` cannot be loaded" in told


@needs_opencl
@pytest.mark.usefixtures("installed")
def test_cards_of_a_package_are_listed_run_and_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["devices"]) == 0
    assert f"acme0  {DEVICES[0].name}" in capsys.readouterr().out
    profile, script = tmp_path / "p.toml", tmp_path / "p.rho"
    profile.write_text(PROFILE.format("acme"), encoding="utf-8")
    script.write_text("+/1+⍳2000\n", encoding="utf-8")
    assert main(["run", str(script), "--devices", str(profile)]) == 0
    assert capsys.readouterr().out.split() == ["2001000"]
    monkeypatch.setattr(devices, "COUNTS", (300,))
    monkeypatch.setattr(devices, "PROGRAMS", ["1+x×x", "+/k"])
    assert main(["devices", "--check", "--devices", "acme0"]) == 0
    assert "2 of 2 programs as on the processor" in capsys.readouterr().out
