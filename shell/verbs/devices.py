"""`rho devices`: prints the profile of this machine, or a declared one; `--calibrate` measures it, `--check` compares cards with
the processor, `--from` runs Python code that makes one.

Memory and cores are those that the operating system grants the process.  Only `--calibrate` and `--check` import a back end.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final

from ...backend.devices.profile_toml import canonical, fingerprint
from ...backend.devices.this_machine import profile_text, shipped_names
from ...backend.schedule.plan.plan_text import bytes_text
from ...lang.diagnostics.model import Refused, RhoError, pointing_into
from ...lang.support.records import replace
from ...lang.syntax.source import Source
from ..cli.arguments import Arguments
from ..cli.outputs import wants_json, write_result
from ..console.process_exit import Exit, UsageError
from ..console.standard_streams import Console, print_json, to_json
from ..display.progress import progress_line
from ..execution import stored_plans
from ..execution.clusters import ClusterConnection

if TYPE_CHECKING:
    from ...backend.devices.profile import DeviceProfile, LinkProfile, Profile
    from ...backend.schedule.plan.plan import Device

_NOT_WITH_CLUSTER: Final = ("--devices", "--from", "--calibrate", "--refine", "--force")
"""Options that `--cluster` excludes."""


def devices_command(arguments: Arguments, console: Console) -> Exit:
    from ...backend.devices.op_tables import profile_from
    from ..execution import stored_plans

    name = arguments.value("--devices")
    calibrate = arguments.has("--calibrate") or arguments.has("--refine")
    if arguments.has("--force") and not calibrate:
        raise UsageError("rho devices: --force is for --calibrate and --refine", "it keeps what others disturbed")
    code = arguments.value("--from")
    if code is not None and (name is not None or calibrate):
        raise UsageError("rho devices: --from writes a profile of its own", "leave out --devices, --calibrate and --refine")
    if code is not None and not arguments.has("--allow-code"):
        raise UsageError(f"--from {code} runs the code in that file", "add --allow-code to allow it")
    if code is None and arguments.has("--allow-code"):
        raise UsageError("--allow-code allows what --from FILE runs", "add --from FILE")
    if name is not None and calibrate:
        raise UsageError("rho devices: a declared profile cannot be calibrated", "leave out --devices to measure this machine")
    if arguments.has("--check"):
        return _check_cards(console, None if name is None else name.split(","))
    where = arguments.value("--cluster")
    if where is not None and (excluded := [option for option in _NOT_WITH_CLUSTER if arguments.has(option)]):
        raise UsageError(f"rho devices: --cluster has its own devices, and measures their links: it goes without {excluded[0]}")
    if where is not None:
        with closing(ClusterConnection(where)) as connection:
            profile = _cluster_profile(connection)
    elif code is not None:
        profile = profile_from(code)
    elif name is not None:
        with pointing_into(_sources(name)):
            profile = stored_plans.profile_named(name)
    elif calibrate:
        profile = _calibrated(console, refine=arguments.has("--refine"), force=arguments.has("--force"))
    else:
        profile = stored_plans.this_machine()
    declared = name is not None or code is not None or where is not None
    if arguments.has("-o"):
        write_result(arguments, console, to_json(profile_json(profile)) if wants_json(arguments) else canonical(profile))
    elif wants_json(arguments):
        print_json(console, profile_json(profile) if declared else {**profile_json(profile), "gpus": list(_gpus())})
    else:
        for line in profile_lines(profile):
            console.print(line)
        for gpu in () if declared else _gpus():
            console.print(f"{gpu['name']}  {gpu['model']}  {bytes_text(gpu['memory_bytes'])}  {gpu['version']}")
            if gpu["lacks"]:
                console.print(f"  runs no programs: {gpu['lacks']}")
    return Exit.OK


def _cluster_profile(connection: ClusterConnection) -> Profile:
    """The measured profile of a cluster, with the working folder as a store if all workers see the same files in it."""
    from ...backend.cluster.client import commonly_visible
    from ...backend.cluster.cluster_profile import with_store

    cluster, folder = connection.cluster, os.path.realpath(".")
    _, shared = commonly_visible(cluster, {}, [folder])
    folders, profile = [os.path.join(one, "") for one in shared], cluster.profile
    if cluster.membership.owned:  # the workers of this command have no lasting addresses
        named = [replace(one, reserved={"worker": one.name}) if "worker" in one.reserved else one for one in profile.devices]
        profile = replace(profile, devices=tuple(named))
    return with_store(profile, folders, cluster.reading, cluster.devices) if shared and not profile.has_stores else profile


def _gpus() -> Iterator[dict[str, Any]]:
    """The cards of this machine; plans only use those that a profile or `--devices` names."""
    from ...backend.gpu.device import cards_here

    for name, gpu in cards_here():
        yield {"name": name, "model": gpu.name, "memory_bytes": gpu.memory, "version": gpu.version, "lacks": gpu.lacks}


def _check_cards(console: Console, names: list[str] | None) -> Exit:
    """Compare each card, or those with these names, with the processor; FAILED if one differs, or there is none."""
    from ...backend.gpu.device import back_end_of, cards_here
    from ...backend.schedule.plan.plan import Device, DeviceId

    cards = dict(cards_here())
    if unknown := [one for one in names or () if one not in cards]:
        raise UsageError(f"rho devices: `{unknown[0]}` is no card of this machine", f"cards: {', '.join(cards) or 'none'}")
    worst = Exit.OK if cards else Exit.FAILED
    if not cards:
        console.print("no cards: `rho info` says why")
    for name in names or cards:
        card = cards[name]
        if card.lacks:
            console.print(f"{name}  {card.name}  runs no programs: {card.lacks}")
            worst = Exit.FAILED if names else worst
            continue
        counts = COUNTS[:-1] if card.is_simulator else COUNTS
        rows = list(differences(Device(DeviceId(name), back_end_of(name) or ""), counts))
        wrong = [(text, what) for text, what in rows if what]
        console.print(f"{name}  {card.name}  {len(rows) - len(wrong)} of {len(rows)} programs as on the processor")
        for text, what in wrong:
            console.print(f"  {text}  {what}")
            worst = Exit.FAILED
    return worst


# ---------------------------------------------------------------------------------------------------- checking cards
#
# A few programs of each kind that compare a card's results with the processor's, for `rho devices --check`.

INPUTS: Final = {
    "x": "input x : f64[n]", "s": "input s : f32[n]", "i": "input i : idx<n>[n]", "k": "input k : i64[n]",
    "b": "input b : bool[n]", "z": "input z : c128[n]", "M": "input M : f64[r c]",
}  # fmt: skip
PROGRAMS: Final = """1+x×x
*-x×x
(⍟1+|x)÷3+x
1○x
s÷1+s×s
⌊0.5+x×9
k|7-k
(k×k)⌊100000
z×z+1
(x>0)∧b
+/x
+/⍤1 ⊢ M
+⌿M×0.1
⌈/x
×/1+x÷1000000
+/k
∨⌿M>3
⍉M
2⌽x
x[i]
+\\x
⌈\\M
{e ← *⍵-⌈/⍵ ⋄ e÷+/e}⍤1 ⊢ M
{(¯1⌽⍵)+0.25×1⌽⍵}⍣9 ⊢ x
{⍵-⍨0.3×⍵×⍵}⍣25 ⊢ x
x,1-x
9+⌸(9|i ⋄ k)
9+⌸(9|i ⋄ x)
M+.×⍉M""".splitlines()
"""Expressions of the inputs whose names they contain."""
COUNTS: Final = (5, 1000, 100_003)
"""The number of items; a matrix has at most 3000 rows of 9.  A simulator would take minutes for the last."""


def differences(device: Device, counts: Sequence[int] = COUNTS) -> Iterator[tuple[str, str]]:
    """The programs, each with the difference on a device, or an empty text."""
    for text in PROGRAMS:
        yield text, next((wrong for count in counts if (wrong := _difference(text, count, device))), "")


def _difference(text: str, count: int, device: Device) -> str:
    import numpy as np

    from ...backend import execute, load, plan
    from ...typechecker.check import check

    names = [name for name in INPUTS if name in text]
    core = check(Source("<check>", "\n".join([*(INPUTS[name] for name in names), f"output r ← {text}", ""]))).core
    assert core is not None, text
    given = {name: array for name, array in _data(count).items() if name in names}
    bound = load(core, given)
    expected = execute(plan(bound), bound, given).outputs["r"].value
    try:
        result = execute(plan(bound, device), bound, given).outputs["r"].value
    except RhoError as error:
        return str(error)
    if result.tobytes() == expected.tobytes():
        return ""
    rounding = 4 * np.finfo(float).eps * count
    if ".×" in text and np.allclose(result, expected, rounding, rounding * np.abs(expected).max()):
        return ""
    return f"{np.count_nonzero(result != expected)} of {expected.size} items differ, for {count} items"


def _data(count: int) -> dict[str, Any]:
    import numpy as np

    rng = np.random.default_rng(count)
    rows = min(3000, 1 + count // 10)
    return {
        "x": rng.standard_normal(count), "s": rng.standard_normal(count).astype(np.float32), "i": rng.integers(0, count, count),
        "k": rng.integers(-1000, 1000, count), "b": rng.random(count) < 0.5, "M": rng.standard_normal((rows, 9)),
        "z": rng.standard_normal(count) + 1j * rng.standard_normal(count),
    }  # fmt: skip


# ---------------------------------------------------------------------------------------------------- profiles as text

def _calibrated(console: Console, *, refine: bool, force: bool) -> Profile:
    from ..execution import stored_plans

    console.note("measuring this machine" + (" (a few minutes)" if refine else " (half a minute if it is calm)"))
    with progress_line(console, lambda: "measuring"):
        profile, stored = stored_plans.calibrate(refine=refine, force=force, report=console.note)
    console.note(f"not kept: {stored}" if isinstance(stored, str) else f"kept in {stored}")
    return profile


def _sources(name: str) -> dict[str, Source]:
    try:
        file, text = profile_text(name)
    except Refused:
        return {}
    return {file: Source(file, text)}


def profile_json(profile: Profile) -> dict[str, Any]:
    """The profile as the object of `--json`."""
    calibration = profile.calibration
    return {
        "version": 1,
        "devices": [_device(device, profile) for device in profile.devices],
        "links": [_link(link) for link in profile.links],
        "profile": {
            "calibrated": None if calibration.calibrated is None else calibration.calibrated.isoformat(),
            "facts": dict(calibration.facts),
            **({"unusable": calibration.unusable} if calibration.unusable else {}),
            "residual_p10": float(calibration.residual_p10),
            "residual_p90": float(calibration.residual_p90),
            "fingerprint": fingerprint(profile),
        },
        "shipped": list(shipped_names()),
    }


def _device(device: DeviceProfile, profile: Profile) -> dict[str, Any]:
    model = profile.calibration.facts.get("cpu", stored_plans.model()) if len(profile.devices) == 1 else ""
    return {
        "name": device.name, "kind": device.kind, "backend": device.backend, "node": device.node, "count": device.count,
        "model": model, "cores": device.threads, "memory_bytes": device.memory_bytes or 0, "home": device.home,
        "launch_ns": device.launch_ns, "host_dispatch_ns": device.host_dispatch_ns, "sync_ns": device.sync_ns,
        "operations": sorted(device.ops), **({"paths": list(device.paths)} if device.paths else {}),
    }  # fmt: skip


def _link(link: LinkProfile) -> dict[str, Any]:
    rate = link.bytes_per_ns
    return {
        "from": link.source, "to": link.target, "latency_ns": link.latency_ns, "duplex": link.duplex.value, "group": link.group,
        "bytes_per_second": None if rate is None else int(rate * 10**9),
    }  # fmt: skip


def profile_lines(profile: Profile) -> Iterator[str]:
    """The profile as text: a line for each device and link, then where the figures come from."""
    from ..execution import stored_plans

    calibration = profile.calibration
    for device in profile.devices:
        name = device.name if device.count == 1 else f"{device.name}[0..{device.count - 1}]"
        if device.paths:
            yield f"{name}  store of {', '.join(device.paths)}"
            continue
        model = str(calibration.facts.get("cpu", "")) if len(profile.devices) == 1 else f"{device.kind}, {device.backend}"
        cores = (
            f"{device.threads} core{'s' if device.threads > 1 else ''}"
            if device.threads > 1 or device.backend == "cpu"
            else ""
        )
        memory = "" if device.memory_bytes is None else bytes_text(device.memory_bytes)
        yield "  ".join(part for part in (name, model, cores, memory, "home" if device.home else "") if part)
    for link in profile.links:
        rate = link.bytes_per_ns
        speed = "" if rate is None else f"{float(rate):.3g} GB/s"
        group = f"group {link.group}" if link.group else ""
        arrow = "→" if link.duplex.value == "simplex" else "↔"
        parts = (f"{link.source} {arrow} {link.target}", speed, f"latency {link.latency_ns / 1000:.3g} µs",
                 f"{link.duplex.value} duplex" if arrow == "↔" else "", group)  # fmt: skip
        yield "  ".join(part for part in parts if part)
    if calibration.calibrated is not None:
        kernels = calibration.facts.get("kernels", "")
        low, high = float(calibration.residual_p10), float(calibration.residual_p90)
        when = calibration.calibrated.isoformat()
        yield f"calibrated {when} ({kernels} kernels); estimates hold within -{low:.0%} to +{high:.0%}"
    elif "kernels" in calibration.facts:
        yield stored_plans.default_tables(calibration.unusable)
    else:
        yield "declared figures"
