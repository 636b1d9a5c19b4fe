"""The command `rho`: parses the command line, imports only the verb's module, and turns every outcome into an exit code.

Nothing here imports a stage of the pipeline, since starting `rho` must cost little (`benchmarks/cold_start.py`).
"""

from __future__ import annotations

import errno
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import cast

from .. import __version__
from ..lang.support.bounded_parsing import parse_natural
from .cli import arguments as command_line
from .console.process_exit import (
    Exit,
    Terminated,
    UsageError,
    finish_process,
    install_signal_handlers,
    nearest,
    preferring_signals,
)
from .console.standard_streams import Colour, Console, ReaderLeft, Volume

_NO_MEMORY = "error[E703]: there is not enough memory to go on; nothing was saved"


def main(argv: Sequence[str] | None = None, console: Console | None = None) -> int:
    """Run one command; `argv` has no program name.  Never raises, never prints a traceback without `--debug`."""
    from_process = argv is None
    words = [os.fsencode(word).decode("utf-8", "replace") for word in sys.argv[1:]] if argv is None else list(argv)
    console = console or Console.standard()
    try:
        if from_process:
            install_signal_handlers()
        code = _run_and_flush(words, console, from_process)
        if from_process:
            finish_process(code)
        return code
    except KeyboardInterrupt:  # before the command began, or during its report
        return _report_stop(console, Exit.INTERRUPTED)
    except Terminated:
        return _report_stop(console, Exit.TERMINATED)
    except MemoryError:  # before the command began, or after it
        console.note(_NO_MEMORY)
        return Exit.FAILED


def _report_stop(console: Console, code: Exit) -> Exit:
    with suppress(OSError):
        console.note(code.name.lower())
    return code


def _run_and_flush(words: list[str], console: Console, from_process: bool) -> Exit:
    """Run the command and flush its output."""
    code = Exit.OK
    try:
        code = _run_reporting(words, console)
        console.out.flush()
    except BrokenPipeError as error:
        # The reader has closed the pipe (`rho … | head`), which is not a failure of the program.
        code = error.code if isinstance(error, ReaderLeft) else code
        _discard_output(from_process)
    except OSError as error:
        without = error.errno in (errno.EMFILE, errno.ENFILE)  # no descriptor is left; standard output itself is open
        what = "it needs more open files than the system allows" if without else "standard output cannot be written"
        code = Exit.FAILED
        _discard_output(from_process)
        console.note(f"rho: {what}: {'it is closed' if error.errno == errno.EBADF else error.strerror or error}")
    except MemoryError:  # while an error was being reported
        console.note(_NO_MEMORY)
        code = Exit.FAILED
    return code


def _print_usage_json(words: list[str], error: UsageError, console: Console) -> None:
    """Print a usage error as a JSON object if the command line asks for JSON."""
    asks_json = "--json" in words or "--format=json" in words or ("--format", "json") in pairwise(words)
    if not asks_json or "--" in words[: words.index("--json") if "--json" in words else 0]:
        return
    from ..lang.diagnostics.model import Code, Diagnostic
    from ..lang.diagnostics.render import diagnostic_json
    from ..lang.syntax.source import Span
    from .console.standard_streams import print_json

    notes = (error.hint,) if error.hint else ()
    code = Code.USAGE if error.exit is Exit.USAGE else Code.E708
    diagnostics = [diagnostic_json(Diagnostic(code, error.message, Span("", 0, 0), notes=notes), {})]
    results: dict[str, object] = {"values": [], "printed": []} if words[0] in ("run", "eval", "-c") else {}
    if words[0] == "check":
        results = {"version": 1, "files": [], "summary": {"errors": 1, "warnings": 0, "ms": 0.0}}
    print_json(console, {**results, "diagnostics": diagnostics})


def _discard_output(from_process: bool) -> None:
    """Send buffered output to the null device, so that the interpreter's flush at exit cannot fail."""
    if from_process:
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run_reporting(words: list[str], console: Console) -> Exit:
    """Run the command and report every exception; returns the exit code."""
    try:
        with preferring_signals():
            return dispatch(words, console)
    except UsageError as error:
        console.note(f"rho: {error.message}" if not error.message.startswith("rho ") else error.message)
        if error.hint:
            console.note(f"  {error.hint}")
        _print_usage_json(words, error, console)
        return error.exit
    except KeyboardInterrupt:
        console.note("interrupted")
        return Exit.INTERRUPTED
    except Terminated:
        console.note("terminated")
        return Exit.TERMINATED
    except OSError as error:
        from .console.error_boundary import lacks_memory, report_uncaught

        if not lacks_memory(error):
            raise  # of a standard stream: errors of files are handled where they are used
        return report_uncaught(error, words, console)
    except RecursionError:
        console.note("error[E610]: the program is too deeply nested for Rho to check or run; name its parts to make it flatter")
        return Exit.REJECTED
    except MemoryError:
        console.note(_NO_MEMORY)
        return Exit.FAILED
    except Exception as error:  # the only place that catches everything: exit 70 with a reproducer, if it is a bug
        from .console.error_boundary import report_uncaught

        return report_uncaught(error, words, console)


def dispatch(words: list[str], console: Console) -> Exit:
    """Find the verb and run it."""
    if not words:
        return _run_verb("repl", [], console)
    first, rest = words[0], words[1:]
    if first in ("--help", "-h", "help"):
        return _help(rest, console)
    if first in ("--version", "-V", "version"):
        console.print(f"rho {__version__}")
        return Exit.OK
    if first == "-c":
        first = "eval"
    return _run_verb(first, rest, console)


def _run_verb(name: str, words: list[str], console: Console) -> Exit:
    from .cli import arguments as registry

    verb = registry.find_verb(name)
    if verb is None:
        raise _unknown_verb(name)
    if "--help" in words or (name != "eval" and "-h" in words):
        return _help([name], console)
    arguments = command_line.parse_arguments(name, words, (*verb.options, *registry.COMMON))
    count = len(arguments.positional)
    if count < verb.min_arguments:
        raise UsageError(f"rho {name}: needs {verb.usage}", f"for example: {verb.examples[0][0]}")
    if verb.max_arguments is not None and count > verb.max_arguments:
        surplus = arguments.positional[verb.max_arguments]
        taken = f"{verb.max_arguments or 'no'} argument{'s' * (verb.max_arguments != 1)}"
        raise UsageError(f"unexpected argument `{surplus}`: `rho {name}` takes {taken}", f"usage: rho {name} {verb.usage}")
    if any(option.file is command_line.FileUse.WRITTEN and arguments.has(option.name) for option in verb.options):
        from .cli.outputs import reject_same_file

        reject_same_file(arguments)
    console = _with_options(console, arguments)
    module = importlib.import_module(f".verbs.{registry.MODULES.get(name, name)}", __package__)
    run = cast("Callable[[command_line.Arguments, Console], Exit]", getattr(module, f"{name}_command"))
    try:
        return run(arguments, console)
    except UsageError:
        raise
    except Exception as error:
        from .cli.outputs import report_or_raise

        return report_or_raise(error, arguments, console)


def _with_options(console: Console, arguments: command_line.Arguments) -> Console:
    """The console with the common options applied: volume, colour, digits."""
    volume = Volume.QUIET if arguments.has("--quiet") else Volume.VERBOSE if arguments.has("--verbose") else console.volume
    colouring = Colour[(arguments.value("--color") or console.colouring.name).upper()]
    digits, asked = console.digits, arguments.value("--digits")
    if asked is not None:
        number = parse_natural(asked, 17)
        if not number:
            raise UsageError(f"--digits {asked}: a number from 1 to 17")
        digits = number
    return Console(console.out, console.err, console.input, console.environment, volume, colouring, digits)


def _help(words: list[str], console: Console) -> Exit:
    from .cli import arguments as pages, arguments as registry

    if not words or words[0].startswith("-"):
        console.print(pages.overview())
        return Exit.OK
    verb = registry.find_verb(words[0])
    if verb is None:
        raise _unknown_verb(words[0])
    console.print(pages.help_page(verb))
    return Exit.OK


def _unknown_verb(name: str) -> UsageError:
    from .cli import arguments as registry

    if name.endswith(".rho"):
        return UsageError(f"`{name}` is a file, not a verb", f"did you mean `rho run {name}`?")
    guess = nearest(name, [verb.name for verb in registry.VERBS])
    hint = f"did you mean `rho {guess}`?" if guess else "rho --help lists the verbs; rho eval EXPR runs an expression"
    return UsageError(f"unknown verb `{name}`", hint)
