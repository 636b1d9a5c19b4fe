"""Workers as the devices of a declared profile (`--cluster W --devices FILE`).

Home is the profile's home.  Every other device is a worker: the one that its `worker` names, by its address, with or without the
protocol, or as plans name it (`w0`); several alike have a list of them.  Devices that name none are the remaining workers, in
order.  Workers that are no device take no part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...lang.diagnostics.model import Code, Diagnostic, Refused
from ...lang.support.records import dataclass, replace
from ...lang.syntax.source import Span
from ..devices.profile import BackendKind, DeviceProfile, Profile
from ..devices.profile_toml import Places, Problems, read_profile
from ..devices.this_machine import profile_text
from ..schedule.plan.plan import DeviceId, ExecutionPlan
from ..schedule.plan.plan_text import bytes_text
from ..schedule.program_facts.partitioning import stores_of
from .link_calibration import RESERVE
from .membership import ClusterMember


def instances(device: DeviceProfile) -> list[str]:
    """The names of a device, or of each of several alike."""
    return [device.name] if device.count == 1 else [f"{device.name}[{number}]" for number in range(device.count)]


@dataclass(frozen=True, slots=True)
class DeclaredDevices:
    """A profile that says what home and the workers of a cluster are, and where its file says so."""

    profile: Profile
    places: Places

    @staticmethod
    def read(name: str) -> DeclaredDevices:
        """A shipped profile, or one in a file.  Refused: E704, E705."""
        file, text = profile_text(name)
        return DeclaredDevices(read_profile(file, text), Places.of(file, text))

    def matched(self, members: Sequence[ClusterMember]) -> dict[str, ClusterMember]:
        """The workers by the names of their devices, in the profile's order.

        Refused E705, with all that does not match: a device that is no processor or has no worker; a `worker` that is not there,
        or is another device too."""
        problems, wanted = Problems(self.places), dict[str, tuple[str, str]]()
        for at, device in enumerate(device for device in self.profile.devices if device.backend is not BackendKind.STORE):
            path, names = f"device[{at}]", instances(device)[1 if device.home else 0 :]
            if device.backend is not BackendKind.CPU:
                problems.add(f"{path}.backend", f"`{device.name}` is for {device.backend.value}, and workers are processors")
            chosen = device.reserved.get("worker", [])
            listed = [one for one in (chosen if isinstance(chosen, list) else [chosen]) if isinstance(one, str)]
            if "worker" in device.reserved and len(listed) != len(names):
                count = "no worker, as home is this process" if not names else f"{len(names)} workers, one for each device"
                problems.add(f"{path}.worker", f"`{device.name}` has {count}, and this names {len(listed)}")
            padded = [*listed, *[""] * len(names)]
            wanted |= {name: (path, padded[number]) for number, name in enumerate(names)}
        problems.stop()
        matched = dict(self._matches(wanted, members, problems))
        problems.stop()
        return {name: matched[name] for name in wanted}

    def _matches(
        self, wanted: Mapping[str, tuple[str, str]], members: Sequence[ClusterMember], problems: Problems
    ) -> Iterator[tuple[str, ClusterMember]]:  # fmt: skip
        """Devices with their workers, those that name one first."""
        left, there = list(members), ", ".join(member.label for member in members[:8]) + ", …" * (len(members) > 8)
        for name, (path, worker) in wanted.items():
            if worker:
                called = ((one.name, one.address, one.address.partition("://")[2]) for one in members)
                chosen = next((one for one, names in zip(members, called, strict=True) if worker in names), None)
                if chosen is None:
                    problems.add(f"{path}.worker", f'no worker is "{worker}"', f"the workers are {there}")
                elif chosen not in left:
                    problems.add(f"{path}.worker", f'"{worker}" is another device already')
                else:
                    left.remove(chosen)
                    yield name, chosen
        unnamed = [(name, path) for name, (path, worker) in wanted.items() if not worker]
        yield from ((name, member) for (name, _), member in zip(unnamed, left, strict=False))
        if len(unnamed) > len(left):
            name, path = unnamed[len(left)]
            wants = f"it has {len(wanted)} devices beside home, and the cluster has {len(members)} workers"
            problems.add(path, f"`{name}` has no worker: {wants}", f"the workers are {there}")


def profile_of_members(declared: Profile, matched: Mapping[str, ClusterMember]) -> Profile:
    """The declared profile with the devices whose workers there are, and at most the memory that these have."""
    devices = []
    for device in declared.devices:
        if device.backend is BackendKind.STORE:
            devices.append(device)
            continue
        members = [matched[name] for name in instances(device) if name in matched]
        count = len(members) + device.home
        if count:
            granted = min((member.memory for member in members if member.memory is not None), default=None)
            devices.append(_within(replace(device, count=count), granted))
    return declared.restricted(devices)


def _within(device: DeviceProfile, granted: int | None) -> DeviceProfile:
    """The device with no more memory for plans than a worker with so many bytes has."""
    usable = None if granted is None else int(granted * (1 - RESERVE))
    if usable is None or (device.memory is not None and device.memory <= usable):
        return device
    return replace(device, memory_bytes=granted, memory_reserve=RESERVE)


def require_fitting_workers(plan: ExecutionPlan, profile: Profile, matched: Mapping[str, ClusterMember], where: str) -> None:
    """Raise Refused unless the workers can run a stored plan: SCH104 a device has none, E702 too little memory."""
    for one in plan.devices:
        if one.backend not in ("cpu", "store"):
            message = f"device {one.id} of the plan is for {one.backend}, and workers are processors"
            raise Refused([Diagnostic(Code.SCH104, message, Span(where, 0, 0), notes=("plan again for these workers",))])
    order = dict(zip(worker_devices(plan), matched, strict=False))
    peaks = dict(plan.main.peak)
    for device in worker_devices(plan):
        name = device if device in matched else order.get(device)
        if name is None:
            message = f"device {device} of the plan has no worker: the cluster has {len(matched)}"
            raise Refused([Diagnostic(Code.SCH104, message, Span(where, 0, 0), notes=("start more workers, or plan for these",))])
        stem = profile.device(name)
        allowed = None if stem is None else stem.memory
        need = next((count for one, count in peaks.items() if one == device), 0)
        if allowed is not None and need > allowed:
            message = f"the plan needs {bytes_text(need)} on {device}, and its worker has {bytes_text(allowed)} for it"
            raise Refused([Diagnostic(Code.E702, message, Span(where, 0, 0), notes=("plan again for these workers",))])


def worker_devices(plan: ExecutionPlan) -> list[DeviceId]:
    """The devices of a plan that workers are."""
    at_home = plan.home, *stores_of(plan)
    return [device.id for device in plan.devices if device.id not in at_home]
