"""Authorities, certificates and keys of tests, as text and as files that Dask's settings name."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("cryptography")
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_PEM, _PKCS8 = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
DAY = timedelta(days=1)


@dataclass(frozen=True)
class Signed:
    """A certificate and its key."""

    certificate: x509.Certificate
    key: Any

    @property
    def text(self) -> str:
        return self.certificate.public_bytes(_PEM).decode()

    def key_text(self, passphrase: bytes | None = None) -> str:
        cipher = serialization.BestAvailableEncryption(passphrase) if passphrase else serialization.NoEncryption()
        return self.key.private_bytes(_PEM, _PKCS8, cipher).decode()


def signed(by: Signed | None = None, begins: timedelta = -DAY, ends: timedelta = DAY, name: str = "rho") -> Signed:
    """By an authority, or one itself."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject if by is None else by.certificate.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + begins)
        .not_valid_after(now + ends)
        .add_extension(x509.BasicConstraints(ca=by is None, path_length=None), critical=True)
    )
    return Signed(made.sign(key if by is None else by.key, hashes.SHA256()), key)


def written(folder: Path, authority: Signed, one: Signed) -> dict[str, str]:
    """The files that settings name."""
    files = {"ca": authority.text, "cert": one.text, "key": one.key_text()}
    for name, text in files.items():
        (folder / f"{name}.pem").write_text(text, encoding="ascii")
    return {name: str(folder / f"{name}.pem") for name in files}
