"""What `--devices` of an instance means: a number of equal processors, a shipped profile, or a file.

A file is a device profile (TOML), or JSON with the `devices` and `links` of an instance.
"""

from __future__ import annotations

from ....lang.numerals import natural
from ....lang.opening import Pipes, read_text
from ...devices.shipped import load_profile
from ..machines import to_devices
from .json_values import MOST_CHARACTERS, load_json, problems_of
from .topology import MOST_DEVICES, Devices, Topology, topology_of


def devices_of(said: str) -> Devices:
    """Refused: E704, E705, what is no number of devices and no file of them."""
    problems = problems_of("--devices")
    if said.isascii() and said.isdigit():
        number = natural(said, MOST_DEVICES)
        if number:
            return number
        problems.fail("", f"{said[:20]} is not a number of devices from 1 to {MOST_DEVICES}")
    if said.endswith(".json"):
        problems = problems_of(said)
        try:
            text = read_text(said, MOST_CHARACTERS, Pipes.READ)
        except (OSError, ValueError) as error:
            problems.fail("", f"cannot be read: {getattr(error, 'strerror', None) or 'it is not UTF-8 text'}")
        topology = topology_of(problems.whole(load_json(text, problems)))  # of a whole instance the rest is not looked at
        problems.stop()
        return lambda _: topology
    profile = load_profile(said)
    return lambda tick_ns: Topology(*to_devices(profile, tick_ns))
