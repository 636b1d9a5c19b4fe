"""The settings of Dask that connections depend on, checked before the first connection: certificates, keys, versions, timeouts.

The certificate of a role is presented to a second endpoint inside this process, which trusts only the authority, as a peer would:
so a certificate that a peer would refuse is refused here, where the setting and the file are known.
"""

from __future__ import annotations

import os
import ssl
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from ...lang.support.files import read_text

_COMM: Final = "distributed.comm"
_LARGEST: Final = 1 << 20
"""The most bytes of a file of certificates."""
_TIMEOUTS: Final = ("connect", "tcp")
CONFIGURED: Final = "Dask reads the files of the folder DASK_CONFIG or ~/.config/dask, and variables that begin with DASK_"
_STRICT: Final = getattr(ssl, "VERIFY_X509_STRICT", ssl.VerifyFlags(0))


class BadSettings(ValueError):
    """Raised for a setting of Dask, or the file that it names, that allows no connection."""


class _Pem(NamedTuple):
    """The value of a setting: the file's name and its text."""

    setting: str
    value: str
    path: str

    def refused(self, what: str, cure: str) -> BadSettings:
        of = "" if "\n" in self.value else f" ({self.value})"
        return BadSettings(f"{self.setting}{of} {what}; {cure}")


def check_configuration(configuration: Any, length_of_time: Callable[..., object]) -> None:
    """Raises BadSettings if files of settings, which each worker also reads, are unreadable, or a setting of connections is
    wrong.

    `configuration` and `length_of_time`: Dask's `config` and its reader of times."""
    try:
        configuration.collect()
    except Exception as error:
        raise BadSettings(f"Dask's configuration cannot be read: {error}; {CONFIGURED}") from None
    for name in _TIMEOUTS:
        setting = f"{_COMM}.timeouts.{name}"
        value = _configured(configuration, setting)
        try:
            length_of_time(value, default="seconds")
        except Exception:
            raise BadSettings(f"{setting} is {value!r}, which is no length of time; {_cure(setting, '30s')}") from None
    setting = f"{_COMM}.require-encryption"
    value = _configured(configuration, setting)
    if value is not None and not isinstance(value, bool):
        raise BadSettings(f"{setting} is {value!r}; {_cure(setting, 'true')}")


def configured_security(make: Callable[[], Any]) -> Any:
    """Dask's `Security` object for its configuration.  Raises BadSettings."""
    try:
        return make()
    except Exception as error:
        raise BadSettings(f"the settings below {_COMM} are not valid: {error}") from None


def connection_context(security: Any, role: str) -> ssl.SSLContext | None:
    """The TLS context of connections that a role opens; None if they are not encrypted.  Raises BadSettings."""
    check(security, role)
    context: ssl.SSLContext | None = _made(lambda: security.get_connection_args(role).get("ssl_context"))
    return context


def listening_context(security: Any, role: str) -> ssl.SSLContext | None:
    """The TLS context of connections that a role accepts; None if they are not encrypted.  Raises BadSettings."""
    check(security, role)
    context: ssl.SSLContext | None = _made(lambda: security.get_listen_args(role).get("ssl_context"))
    return context


def missing_settings(security: Any, role: str) -> list[str]:
    """The settings of a role that encryption needs and that are missing."""
    values = security.get_tls_config_for_role(role)
    return [setting for name, setting in _settings(role).items() if name != "key" and not values.get(name)]


def check(security: Any, role: str) -> None:
    """Raises BadSettings if a peer would refuse a role's certificate, or if it is unreadable."""
    if not hasattr(security, "get_tls_config_for_role"):
        return
    values: Mapping[str, Any] = security.get_tls_config_for_role(role)
    settings = _settings(role)
    for name, setting in settings.items():
        if values.get(name) is not None and not isinstance(values[name], str):
            raise BadSettings(f"{setting} is {values[name]!r}, which is no path; {_cure(setting, 'PATH.pem')}")
    if missing_settings(security, role):
        return
    with _files({settings[name]: values[name] for name in settings if values.get(name)}) as files:
        authority, certificate = files[settings["ca_file"]], files[settings["cert"]]
        key = files.get(settings["key"], certificate)
        _require(authority, "CERTIFICATE", "a certificate")
        _require(certificate, "CERTIFICATE", "a certificate")
        _require(key, "PRIVATE KEY", "a private key")
        for file in (authority, certificate):
            _parse(file)
        for is_server in (False, True) if role != "client" else (False,):
            _show(authority, certificate, key, is_server=is_server)


def _made(make: Callable[[], Any]) -> Any:
    try:
        return make()
    except Exception as error:
        raise BadSettings(f"the settings below {_COMM}.tls are refused: {error}") from None


def _settings(role: str) -> dict[str, str]:
    tls = f"{_COMM}.tls"
    return {"ca_file": f"{tls}.ca-file", "cert": f"{tls}.{role}.cert", "key": f"{tls}.{role}.key"}


def _configured(configuration: Any, setting: str) -> Any:
    try:
        return configuration.get(setting, None)
    except Exception as error:
        raise BadSettings(f"{setting} cannot be read from Dask's configuration: {error}") from None


def _cure(setting: str, example: str) -> str:
    variable = f"DASK_{setting.upper().replace('.', '__').replace('-', '_')}"
    return f"correct it in Dask's configuration, or set {variable}={example}"


@contextmanager
def _files(values: Mapping[str, str]) -> Iterator[dict[str, _Pem]]:
    """Each value as a file: a value of several lines is the file's text itself."""
    with tempfile.TemporaryDirectory() as folder:
        files = dict[str, _Pem]()
        for at, (setting, value) in enumerate(values.items()):
            path = value
            if "\n" in value:
                path = os.path.join(folder, f"{at}.pem")
                Path(path).write_text(value, encoding="ascii", errors="replace")
            files[setting] = _Pem(setting, value, path)
        yield files


def _require(file: _Pem, label: str, what: str) -> None:
    """Raises BadSettings unless the file is a readable regular file with such a part."""
    try:
        text = read_text(file.path, _LARGEST)
    except OSError as error:
        raise file.refused(f"cannot be read: {error.strerror or error}", _cure(file.setting, "PATH.pem")) from None
    except ValueError:
        text = ""
    if "BEGIN" not in text or label not in text:
        raise file.refused(f"has not {what} in PEM form", _cure(file.setting, "PATH.pem"))


def _parse(file: _Pem) -> None:
    """Raises BadSettings unless every certificate of a file can be decoded."""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(file.path)
    except ssl.SSLError as error:
        cure = _cure(file.setting, "PATH.pem")
        raise file.refused(f"has a certificate that cannot be used: {_reason(error)}", cure) from None


def _show(authority: _Pem, certificate: _Pem, key: _Pem, *, is_server: bool) -> None:
    """Raises BadSettings if a peer that trusts the authority refuses the certificate."""
    shown = _loaded(certificate, key, ssl.PROTOCOL_TLS_SERVER if is_server else ssl.PROTOCOL_TLS_CLIENT)
    judge = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if is_server else _loaded(certificate, key, ssl.PROTOCOL_TLS_SERVER)
    shown.check_hostname = judge.check_hostname = False
    if not is_server:
        shown.verify_mode = ssl.CERT_NONE
    judge.verify_mode = ssl.CERT_REQUIRED
    judge.verify_flags &= ~_STRICT
    judge.load_verify_locations(authority.path)
    try:
        _shake(judge, shown, judge_is_client=is_server)
    except ssl.SSLCertVerificationError as error:
        now = f"now {authority.value.splitlines()[0]}"
        cure = f"renew it, or name in {authority.setting} the authority that signed it ({now})"
        raise certificate.refused(f"would be refused: {error.verify_message}", cure) from None
    except ssl.SSLError as error:
        raise certificate.refused(f"cannot be used: {_reason(error)}", "renew it") from None


def _loaded(certificate: _Pem, key: _Pem, protocol: Any) -> ssl.SSLContext:
    context = ssl.SSLContext(protocol)
    asked = list[bool]()

    def no_password() -> str:
        asked.append(True)
        return ""

    try:
        context.load_cert_chain(certificate.path, key.path, no_password)
    except (ssl.SSLError, ValueError) as error:
        if asked:
            cure = "write it without one (openssl pkey -in KEY -out NEW)"
            raise key.refused("has a passphrase, which nobody can type", cure) from None
        if isinstance(error, ssl.SSLError) and error.reason == "KEY_VALUES_MISMATCH":
            whose = f"{certificate.setting} ({certificate.value.splitlines()[0]})"
            raise key.refused(f"is not the key of {whose}", "name the key that belongs to it") from None
        raise key.refused(f"or {certificate.setting} cannot be used: {_reason(error)}", "write both again") from None
    return context


def _shake(judge: ssl.SSLContext, shown: ssl.SSLContext, *, judge_is_client: bool) -> None:
    """A TLS handshake of two endpoints in this process."""
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    judging = judge.wrap_bio(there, back, server_side=not judge_is_client)
    showing = shown.wrap_bio(back, there, server_side=judge_is_client)
    left = [showing, judging]
    while left:
        for end in [*left]:
            try:
                end.do_handshake()
                left.remove(end)
            except ssl.SSLWantReadError:
                if end is judging and not there.pending and showing not in left:
                    raise ssl.SSLError("the handshake does not end") from None


def _reason(error: BaseException) -> str:
    return (getattr(error, "reason", None) or str(error)).replace("_", " ").lower()
