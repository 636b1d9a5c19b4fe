"""What strangers send to the port of a resident."""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Callable, Mapping
from typing import Any

from rho.backend.cluster.wire import MessageKind
from rho.backend.cluster.worker import LARGEST_HELLO

HEAD = struct.Struct("!BIQ")


def message(kind: int, facts: Any, size: int = 0, *, length: int | None = None, more: bytes = b"") -> bytes:
    text = facts if isinstance(facts, bytes) else json.dumps(facts).encode()
    return HEAD.pack(kind, len(text) if length is None else length, size) + text + more


def hello(token: str, **facts: Any) -> bytes:
    return message(MessageKind.HELLO, {"token": token, **facts})


def array(kind: str, items: int) -> dict[str, Any]:
    return {"token": "x", "arrays": [[kind, [items]]]}


NAMED: Mapping[str, Callable[[str], bytes]] = {
    "nothing": lambda token: b"",
    "a byte": lambda token: b"\x01",
    "HTTP": lambda token: b"GET /status HTTP/1.0\r\n\r\n",
    "TLS": lambda token: bytes.fromhex("160301020001") + bytes(200),
    "a head of all ones": lambda token: b"\xff" * HEAD.size,
    "facts of 128 MB": lambda token: message(MessageKind.HELLO, b"", length=128 << 20),
    "facts of 4 GB": lambda token: message(MessageKind.HELLO, b"", length=0xFFFFFFFF),
    "an array of 800 MB": lambda token: message(MessageKind.HELLO, array("|u1", 800 << 20), 800 << 20, more=bytes(1 << 20)),
    "an array of 8 TB": lambda token: message(MessageKind.HELLO, array("<f8", 1 << 40), 8 << 40),
    "an array of no items": lambda token: message(MessageKind.HELLO, array("<f8", 0)),
    "deep JSON": lambda token: message(MessageKind.HELLO, b"[" * 200_000),
    "JSON as deep as fits": lambda token: message(MessageKind.HELLO, b"[" * LARGEST_HELLO),
    "a token above ASCII": lambda token: hello("ü" * 16),
    "half of a character": lambda token: message(MessageKind.HELLO, b'{"token": "\\ud800"}'),
    "a token that is a number": lambda token: message(MessageKind.HELLO, {"token": 7}),
    "a number of many digits": lambda token: message(MessageKind.HELLO, b"9" * LARGEST_HELLO),
    "no token": lambda token: message(MessageKind.HELLO, {"as": "home"}),
    "a list": lambda token: message(MessageKind.HELLO, [token]),
    "not UTF-8": lambda token: message(MessageKind.HELLO, b"\xff\xfe" * 9),
    "another kind": lambda token: message(MessageKind.RUN, {"token": token}),
    "no kind": lambda token: message(200, {"token": token}),
    "the token, cut short": lambda token: hello(token[:-1], **{"as": "home"}),
    "the token, but as nobody": lambda token: hello(token, **{"as": "king"}),
    "the token, from no number": lambda token: hello(token, **{"as": "worker", "run": "r", "from": [1]}),
}  # fmt: skip


def drawn(chance: random.Random, token: str) -> bytes:
    """Random bytes, or one of these with bytes changed, cut or added; never a hello that has the token."""
    base = bytearray(chance.choice([*NAMED.values()])("0" * len(token))[:4096])
    match chance.randrange(4):
        case 0:
            return chance.randbytes(chance.randrange(2000))
        case 1:
            return bytes(base[: chance.randrange(len(base) + 1)])
        case 2:
            for at in chance.sample(range(len(base)), min(len(base), 5)):
                base[at] = chance.randrange(256)
        case _:
            base += chance.randbytes(chance.randrange(300))
    return bytes(base)
