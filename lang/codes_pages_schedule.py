"""Pages of SCHxxx: directives that no plan can meet, and plans.  Loaded by `lang.codes` when asked for."""

from __future__ import annotations

from .codes import Code
from .codes_record import Page, Stage


def _shown(explanation: str, failing: str, repaired: str) -> Page:
    return Page(explanation, failing, repaired, Stage.SHOWN)


_PROGRAM = "input x : f64[n]\na ← x×2\nd ← x+1\na\nd\n"


def _block(*lines: str) -> str:
    return _PROGRAM + "schedule {\n" + "".join(f"  {line}\n" for line in lines) + "}"


PAGES: dict[str, Page] = {
    Code.SCH101: _shown(
        "The directives listed cannot all be obeyed: they order values in a cycle, or place one value in two ways. Only "
        "directives that conflict are shown. Remove one of them.",
        _block("print a before d", "d before a"),
        _block("print a before d"),
    ),
    Code.SCH102: _shown(
        "A value cannot be computed before the values it depends on. The message shows the directive and the chain of "
        "dependences that contradicts it.",
        _block("a before x"),
        _block("x before a"),
    ),
    Code.SCH103: _shown(
        "The values that must be present at one time need more memory than the limits leave. The message says how many "
        "bytes are missing. Raise a limit, add a device, or allow the value to be split.",
        _block("limit memory cpu0 1KB"),
        _block("limit memory cpu0 200MB"),
    ),
    Code.SCH104: _shown(
        "The value is placed on a kind of device that cannot compute it: its profile has no table for the operation and the "
        "element type (docs/devices.md).",
        "input x : f64[n]\na ← ⍕x\na\nschedule {\n  place a on gpu\n}",
        "input x : f64[n]\na ← ⍕x\na\nschedule {\n  place a on cpu\n}",
    ),
    Code.SCH105: _shown(
        "Inputs, printing and outputs happen on the home device, where the files and the screen are.",
        _block("place print on gpu"),
        _block("place a on gpu"),
    ),
    Code.SCH106: _shown(
        "No plan meets the deadline or the limit. The message gives a lower bound that holds for every plan along the "
        "axes that were chosen for its cuts.",
        _block("deadline 1ns"),
        _block("deadline 1s"),
    ),
    Code.SCH107: _shown(
        "The schedule names a value that the program does not define, or a device that the profile does not have. The message "
        "offers a similar name.",
        _block("place aa on gpu"),
        _block("place a on gpu"),
    ),
    Code.SCH201: _shown(
        "The name is bound more than once, so it is not clear which value is meant; the message shows each. Use different "
        "names.",
        "a ← 1 2 3\na ← a×2\na\nschedule {\n  place a on cpu\n}",
        "a ← 1 2 3\nb ← a×2\nb\nschedule {\n  place b on cpu\n}",
    ),
    Code.SCH202: _shown(
        "A kind such as `gpu` leaves the choice of device open. A value that stays on a device needs one device: name it, "
        "`gpu0`.",
        _block("split a rows over gpu0 gpu1", "keep a on gpu"),
        _block("split a rows over gpu0 gpu1"),
    ),
    Code.SCH203: _shown(
        "Both values are cut into shards, and `before` is read as: all shards of the first are done before any of the "
        "second starts.",
        _block("split a rows over gpu0 gpu1", "split d rows over gpu0 gpu1", "a before d"),
        _block("split a rows over gpu0 gpu1", "split d rows over gpu0 gpu1"),
    ),
    Code.SCH204: _shown(
        "`--objective` of the command takes the place of every `minimize` in the script. Leave the option out to plan for what "
        "the script says.",
        "⍝ rho plan p.rho --objective energy\nschedule { minimize latency }\n1+1",
        "⍝ rho plan p.rho\nschedule { minimize latency }\n1+1",
    ),
    Code.SCH301: _shown(
        "The plan was made for another program, other sizes or another machine; the message says which field differs. Make "
        "it again with `rho plan`.",
        "⍝ rho run p.rho --plan old.json\n1+1",
        "⍝ rho plan p.rho -o new.json, then rho run p.rho --plan new.json\n1+1",
    ),
    Code.SCH302: _shown(
        "The search stopped at its budget with a plan and a lower bound that do not meet; the gap is shown. It is a note, "
        "and an error only with `--require-optimal`. `--prove` searches without limit.",
        "⍝ rho plan p.rho --require-optimal --fast\n1+1",
        "⍝ rho plan p.rho --prove\n1+1",
    ),
    Code.SCH303: _shown(
        "This is a bug in Rho, not in the program. A strategy of the planner failed, or made a plan that the verifier refused. "
        "The best plan of the other strategies is used, and it is valid. Please report the notes, which say what failed.",
        "⍝ rho plan p.rho\n1+1",
        "⍝ rho plan p.rho --fast, which searches less\n1+1",
    ),
}  # fmt: skip
