"""What `--devices` of an instance means: a number of equal processors, a shipped profile, or a file.

A file is a device profile (TOML), or JSON with the `devices` and `links` of an instance.
"""

from __future__ import annotations

from ....lang.numerals import natural
from ....lang.opening import Pipes, read_text
from ...devices.shipped import load_profile
from ..machines import to_devices
from .fields import MOST_CHARACTERS, Faults, load_json
from .topology import MOST_DEVICES, Devices, Topology, decode_devices_file


def devices_of(said: str) -> Devices:
    """Raises InstanceError for a number or JSON that is none, Refused (E704, E705) for what is no profile."""
    faults = Faults("--devices")
    if said.isascii() and said.isdigit():
        number = natural(said, MOST_DEVICES)
        if number:
            return number
        faults.add("", f"{said[:20]} is not a number of devices from 1 to {MOST_DEVICES}")
        faults.stop()
    if said.endswith(".json"):
        faults = Faults(said)
        try:
            text = read_text(said, MOST_CHARACTERS, Pipes.READ)
        except (OSError, ValueError) as error:
            faults.add("", f"cannot be read: {getattr(error, 'strerror', None) or 'it is not UTF-8 text'}")
            faults.stop()
            raise
        topology = decode_devices_file(load_json(text, faults), faults)
        return lambda _: topology
    profile = load_profile(said)
    return lambda tick_ns: Topology(*to_devices(profile, tick_ns))
