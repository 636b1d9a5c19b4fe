"""The command line: the table of verbs and options, its parser, help pages, and the requests that options make.

The parser is hand-written because starting `rho` must cost little, and because an APL expression may start with `-` (`-/1 2 3`),
which is then no option.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Final

from ...lang.support.bounded_parsing import is_url, parse_natural, url_error
from ...lang.support.records import dataclass
from ..console.process_exit import UsageError, did_you_mean, nearest, parse_seconds
from ..console.standard_streams import Console, check_streams, stream_of

if TYPE_CHECKING:
    from ..execution.clusters import ClusterConnection
    from ..execution.params import Permissions
    from ..execution.run_request import RunRequest
    from ..execution.scheduling import PlanPurpose, Scheduling


# ---------------------------------------------------------------------------------------------------- parser

class Takes(Enum):
    """The kind of argument that an option takes."""

    NOTHING = "a switch"
    VALUE = "one value, given once"
    VALUES = "one value each time, may be repeated"


class FileUse(Enum):
    """The access of a command to the file that an option names."""

    NONE = "it names none"
    READ = "it is read"
    WRITTEN = "it is replaced"


@dataclass(frozen=True, slots=True)
class Option:
    """One option: its spellings (the first is canonical), what it takes, the value's name in help, one line of help, its choices,
    and how it uses the file it names."""

    spellings: tuple[str, ...]
    takes: Takes
    value: str
    doc: str
    choices: tuple[str, ...] = ()
    file: FileUse = FileUse.NONE

    @property
    def name(self) -> str:
        return self.spellings[0]


@dataclass(frozen=True, slots=True)
class Arguments:
    """A parsed command line.  `options` maps canonical option names to their values in order (a switch has empty strings)."""

    verb: str
    positional: tuple[str, ...]
    options: Mapping[str, tuple[str, ...]]

    def has(self, name: str) -> bool:
        return name in self.options

    def value(self, name: str) -> str | None:
        values = self.options.get(name)
        return values[-1] if values else None

    def values(self, name: str) -> tuple[str, ...]:
        return self.options.get(name, ())

    def pairs(self, name: str, shape: str) -> dict[str, str]:
        """The `NAME=VALUE` arguments of an option as a dict; `shape` is their form for messages.
        UsageError: a missing `=` or a repeated name."""
        pairs: dict[str, str] = {}
        for key, value in self.every_pair(name, shape):
            if key in pairs:
                raise UsageError(f"{name} names `{key}` twice (`{pairs[key]}` and `{value}`)", "give each name once")
            pairs[key] = value
        return pairs

    def every_pair(self, name: str, shape: str) -> list[tuple[str, str]]:
        """`NAME=VALUE` options in order, with names that are given several times.  UsageError: a missing `=`."""
        pairs = []
        for text in self.values(name):
            key, equals, value = text.partition("=")
            if not equals or not key.strip() or not value:
                raise UsageError(f"`{name} {text}` is not of the form {name} {shape}")
            pairs.append((key.strip(), value))
        return pairs


def parse_arguments(verb: str, words: Sequence[str], options: Sequence[Option]) -> Arguments:
    """Split `words` into options and positional arguments; all after `--` is positional.

    UsageError: an unknown option, a missing or repeated value, or one that is no choice."""
    spelt = {spelling: option for option in options for spelling in option.spellings}
    positional: list[str] = []
    values_of: dict[str, list[str]] = {}
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "--":
            positional.extend(words[at:])
            break
        name, equals, value = word.partition("=")
        option = spelt.get(word) or (spelt.get(name) if equals and name.startswith("--") else None)
        if option is None:
            if looks_like_option(word):
                raise unknown_option(verb, name, tuple(spelt))
            positional.append(word)
            continue
        if option.takes is Takes.NOTHING:
            if word not in spelt:
                raise UsageError(f"rho {verb}: {option.name} takes no value")
            values_of.setdefault(option.name, []).append("")
            continue
        if word in spelt:
            if at >= len(words):
                raise UsageError(f"rho {verb}: {word} needs a value: {option.name} {option.value}")
            value = words[at]
            at += 1
        if option.takes is Takes.VALUE and option.name in values_of:
            raise UsageError(f"rho {verb}: {option.name} is given twice", "it takes one value")
        if option.choices and value not in option.choices:
            guess = did_you_mean(value, option.choices)
            raise UsageError(f"rho {verb}: {option.name} cannot be `{value}`{guess}", "one of " + ", ".join(option.choices))
        values_of.setdefault(option.name, []).append(value)
    return Arguments(verb, tuple(positional), {name: tuple(values) for name, values in values_of.items()})


def looks_like_option(word: str) -> bool:
    """Is a word `--word` or `-w`?  Expressions such as `-3`, `-/x` or `-` are not."""
    if word.startswith("--"):
        return len(word) > 2 and word[2].isalpha() and word[2].isascii()
    return len(word) == 2 and word[0] == "-" and word[1].isalpha() and word[1].isascii()


def unknown_option(verb: str, word: str, spellings: Sequence[str]) -> UsageError:
    guess = nearest(word, [spelling for spelling in spellings if spelling.startswith("--")])
    meant = f"; did you mean {guess}?" if guess else ""
    return UsageError(f"rho {verb}: unknown option {word}{meant}", f"rho {verb} --help lists the options")


# ---------------------------------------------------------------------------------------------------- table of verbs
#
# The verbs of `rho` with their options and help.  The module of a verb is imported only when the verb is used.
#
# To add a verb, add a row here and a module in `shell.verbs` with `def NAME_command(arguments, console) -> Exit`.

READ, WRITTEN = FileUse.READ, FileUse.WRITTEN

JSON = Option(("--json",), Takes.NOTHING, "", "one JSON object on standard output (the same as --format json)")
DEBUG = Option(("--debug",), Takes.NOTHING, "", "show the Python traceback of a bug in Rho")
HELP = Option(("--help", "-h"), Takes.NOTHING, "", "this page")
STRICT = Option(("--strict",), Takes.NOTHING, "", "refuse what would otherwise be checked when loaded or run (W201, W310)")
EXACT = Option(("--exact",), Takes.NOTHING, "", "compute products and inverses as they are written, in no cheaper order")
OUT = Option(("-o", "--output"), Takes.VALUE, "FILE", "write there instead of standard output", file=WRITTEN)
QUIET = Option(("--quiet", "-q"), Takes.NOTHING, "", "errors only: no warnings, notes or summaries")
VERBOSE = Option(("--verbose", "-v"), Takes.NOTHING, "", "also say how long each stage took")
COLOUR = Option(("--color",), Takes.VALUE, "WHEN", "auto (on a terminal, unless NO_COLOR is set), always or never",
                ("auto", "always", "never"))  # fmt: skip
COMMON = (QUIET, VERBOSE, COLOUR, DEBUG, HELP)
DIGITS = Option(("--digits",), Takes.VALUE, "N", "significant digits of printed numbers, 1 to 17 (10)")

FORMAT_CHECK = Option(("--format",), Takes.VALUE, "FORMAT", "text, json, sarif or github", ("text", "json", "sarif", "github"))
FORMAT_PLAN = Option(
    ("--format",), Takes.VALUE, "FORMAT", "text, json, schedule (for --schedule), gantt, svg, html, dot or trace (Perfetto)",
    ("text", "json", "schedule", "gantt", "svg", "html", "dot", "trace"),
)  # fmt: skip
FORMAT_RESULT = Option(("--format",), Takes.VALUE, "FORMAT", "text or json", ("text", "json"))

INPUT = Option(("--in",), Takes.VALUES, "NAME=PATH", "read input NAME from PATH (`-`, `-:csv`: standard input);"
               " one --in for each input", file=READ)
SET = Option(("--set",), Takes.VALUES, "PARAM=VALUE", "give a param another value")
ALLOW_READ = Option(("--allow-read",), Takes.VALUES, "DIR", "also permit reading files under DIR; if DIR is a URL, URLs under it")
ALLOW_WRITE = Option(("--allow-write",), Takes.VALUES, "DIR", "permit writing outputs only under DIR")
MAX_MEMORY = Option(("--max-memory",), Takes.VALUE, "BYTES", "refuse a program whose peak memory exceeds this (500MB, 2GiB)")
MAX_TIME = Option(("--max-time",), Takes.VALUE, "SECONDS", "refuse a program that cannot end in this time; stop a longer run")
VERIFY = Option(("--verify",), Takes.NOTHING, "", "run on the reference interpreter too and compare every result")
OBJECTIVE = Option(
    ("--objective",), Takes.VALUES, "WHAT", "what the plan minimises, most important first",
    ("latency", "throughput", "energy", "machines", "syncs"),
)  # fmt: skip
BUDGET = Option(("--budget",), Takes.VALUE, "SECONDS", "about how long to search (5)")
PROVE = Option(("--prove",), Takes.NOTHING, "", "search until the plan is proved optimal")
FAST = Option(("--fast",), Takes.NOTHING, "", "heuristics and bounds only")
STRATEGY_NAMES = (
    "baselines", "at-home", "single-split", "paths", "energetic", "lp-relaxation", "list-scheduling",
    "fewer-devices", "activity-lists", "row-shifts", "groups", "machines", "objective-bound", "annealing", "z3",
    "chunks", "slivers", "merged-syncs",
)  # fmt: skip
"""The names of `backend.schedule.search.portfolio`, which is imported only when something is planned."""
WITHOUT = Option(("--without",), Takes.VALUES, "STRATEGY", "plan without a strategy of the planner, to see its effect",
                 STRATEGY_NAMES)
SCHEDULE = Option(("--schedule",), Takes.VALUE, "FILE", "also obey the schedule blocks of FILE, such as `rho plan --format"
                  " schedule` writes", file=READ)
REQUIRE_OPTIMAL = Option(("--require-optimal",), Takes.NOTHING, "", "a plan that is not proved optimal is an error (exit 5)")
CLUSTER = Option(("--cluster",), Takes.VALUE, "WHERE", "use workers: local:2, tcp://HOST:PORT or a scheduler.json")
SIZE = Option(("--size",), Takes.VALUES, "NAME=N", "a size or a param; other sizes come from the headers of the data")
LIMITS = (INPUT, SET, ALLOW_READ, MAX_MEMORY, MAX_TIME)


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb: its name, usage line, summary, examples (command, remark) and options.

    `min_arguments`, `max_arguments`: how many positional arguments it takes (None: any number)."""

    name: str
    usage: str
    summary: str
    examples: tuple[tuple[str, str], ...]
    options: tuple[Option, ...]
    min_arguments: int
    max_arguments: int | None


VERBS: tuple[Verb, ...] = (
    Verb(
        "run", "FILE | --plan PLAN [options]", "check, plan and run a script",
        (
            ("rho run examples/kmeans.rho", "with the data the script names"),
            ("rho run wave.rho --in field=u0.npy --set steps=50", "with other data and parameters"),
            ("rho run kmeans.rho --out label=labels.npy", "and save an output"),
            ("rho run kmeans.rho --devices workstation --simulate", "as if on other devices"),
            ("rho run examples/sunspots.rho --plot average", "and draw it here; --plot average=sun.png into a file"),
            ("rho run examples/sunspots.rho --plot line:years,spots", "over its x axis; also bars: scatter: hist:"),
        ),
        (
            INPUT, SET,
            Option(("--out",), Takes.VALUES, "NAME=PATH", "save NAME (.npy .csv .png .txt .json; `-`: standard output;"
                   " A,B=report.csv: one table; M:B=report.csv: B names M's columns)",
                   file=WRITTEN),
            Option(("--out-dir",), Takes.VALUE, "DIR", "save every other output as DIR/NAME.npy, text as .txt;"
                   " a missing DIR is made"),
            JSON, FORMAT_RESULT, DIGITS, STRICT, EXACT, VERIFY,
            Option(("--watch",), Takes.NOTHING, "", "run again whenever the script or its data changes, until Ctrl-C"),
            Option(("--analyze",), Takes.NOTHING, "", "report the predicted and the measured cost of the run"),
            Option(("--devices",), Takes.VALUE, "NAME|FILE", "plan for a device profile, shipped or in a file,"
                   " or for devices of this machine (cpu0,ocl0)",
                   file=READ),
            Option(("--simulate",), Takes.NOTHING, "", "run here as if on declared devices: keep each within its memory, and"
                   " print the predicted time"),
            Option(("--plan",), Takes.VALUE, "PLAN", "run a plan that `rho plan -o PLAN` made", file=READ),
            CLUSTER,
            Option(("--restarts",), Takes.VALUE, "N", "how often a run may begin again after a worker was lost (3)"),
            OBJECTIVE, BUDGET, PROVE, FAST, WITHOUT, REQUIRE_OPTIMAL, SCHEDULE,
            Option(("--plot",), Takes.VALUES, "[KIND:]NAME[,NAME…][=FILE]", "draw it here, or into a .png or .svg file; KIND is"
                   " line, bars, scatter or hist; of several names the first is the x axis", file=WRITTEN),
            Option(("--plot-size",), Takes.VALUE, "WxH", "columns and lines; for a file, pixels"),
            Option(("--trace",), Takes.VALUE, "FILE", "save when each phase ran, to open in Perfetto", file=WRITTEN),
            MAX_MEMORY, MAX_TIME, ALLOW_READ, ALLOW_WRITE,
        ),
        0, 1,
    ),
    Verb(
        "eval", "EXPR | - | --lines FILE [options]", "run one expression",
        (
            ("rho eval '+/⍳10'", "also: rho -c '+/⍳10'"),
            ("rho eval '+/`iota 10'", "names instead of glyphs"),
            ("rho eval --lines programs.txt --json", "each line its own program, one JSON object a line"),
        ),
        (
            Option(("--lines",), Takes.VALUE, "FILE", "each line of FILE is its own program (- is standard input)",
                   file=READ),
            JSON, FORMAT_RESULT, DIGITS, STRICT, EXACT, VERIFY, *LIMITS,
        ),
        0, None,
    ),
    Verb(
        "check", "PATH… [options]", "types only: reads no data, runs nothing",
        (
            ("rho check wave.rho", "errors and warnings as text"),
            ("rho check src --format github", "every .rho file under a directory, as annotations"),
            ("rho check wave.rho --strict", "guards and run-time checks are errors"),
            ("rho check src --watch", "again whenever a file changes, until Ctrl-C"),
            ("rho check wave.rho --fix", "apply what errors and warnings propose; --diff only shows it"),
        ),
        (FORMAT_CHECK, JSON, STRICT, Option(("--watch",), Takes.NOTHING, "", "check again whenever a file changes"),
         Option(("--devices",), Takes.VALUE, "NAME|FILE", "check schedule blocks for a device profile, too", file=READ),
         Option(("--fix",), Takes.NOTHING, "", "apply the fixes of errors and warnings that add no error; notes (N001) stay"),
         Option(("--diff",), Takes.NOTHING, "", "show what --fix would change, write nothing; exit 1 if anything")),
        1, None,
    ),
    Verb(
        "type", "EXPR|FILE [NAME…] [options]", "types, and how often elements are read",
        (
            ("rho type '2 3⍴⍳6'", ""), ("rho type 'mean ← {(+⌿⍵)÷≢⍵}'", "a function for arrays of any length"),
            ("rho type examples/kmeans.rho", "every name of a program"), ("rho type stdlib/stats.rho mean", "one of them"),
            ("rho type '{+/⍵}⍤1 ⊢ 3 4⍴1' --cost", "with what it costs"),
        ),
        (Option(("--cost",), Takes.NOTHING, "", "also memory, operations and bytes moved"), JSON, FORMAT_RESULT),
        1, None,
    ),
    Verb(
        "plan", "FILE | --instance FILE [options]", "the schedule: phases, devices, memory",
        (
            ("rho plan examples/kmeans.rho", ""), ("rho plan wave.rho --size n=2048", "for sizes instead of data"),
            ("rho plan kmeans.rho --format json -o plan.json", ""),
            ("rho plan --instance graph.json --json", "an abstract task graph (docs/instances.md)"),
            ("rho plan --instance rand0000.stg --devices 4", "on four equal processors"),
            ("rho plan kmeans.rho --devices workstation --format html -o plan.html", "a picture of it on declared devices"),
            ("rho plan kmeans.rho --devices workstation --pareto time,energy", "plans that trade time for energy"),
            ("rho plan --check plan.json", "is a stored plan right?"),
        ),
        (
            OUT, FORMAT_PLAN, JSON, STRICT, EXACT, SIZE, *LIMITS,
            Option(("--instance",), Takes.VALUE, "FILE", "schedule a task graph: instance/1 JSON, STG or Auckland DOT",
                   file=READ),
            Option(("--devices",), Takes.VALUE, "N|FILE", "a device profile; for an instance also a number, or JSON",
                   file=READ),
            Option(("--contention",), Takes.VALUE, "off|group", "off: links carry any number at once", ("off", "group")),
            CLUSTER, OBJECTIVE, BUDGET, PROVE, FAST, WITHOUT, REQUIRE_OPTIMAL, SCHEDULE,
            Option(("--pareto",), Takes.VALUE, "time,WHAT", "plans that trade time for energy, machines, syncs or throughput"),
            Option(("--points",), Takes.VALUE, "N", "at most N plans on the front (8)"),
            Option(("--deadline",), Takes.VALUE, "TIME", "the best plan for the objective that ends within TIME (20ms)"),
            Option(("--point",), Takes.VALUE, "N", "take the N-th plan of the front"),
            Option(("--weights",), Takes.VALUE, "time=W,WHAT=W", "take the plan with the least weighted sum of objectives"),
            Option(("--check",), Takes.VALUE, "PLAN", "verify a stored plan; with --prove, prove again that it is optimal",
                   file=READ),
            Option(("--explain-cut",), Takes.VALUE, "NAME|LINE", "what a phase costs by axis and number of shards"),
            Option(("--diff",), Takes.VALUE, "PLAN", "how the plan differs from a stored one", file=READ),
            Option(("--loops",), Takes.NOTHING, "", "the loop programs that loops, folds and scans become"),
        ),
        0, 1,
    ),
    Verb(
        "estimate", "FILE [options]", "predicted time and memory on several devices, without data",
        (
            ("rho estimate examples/kmeans.rho", "on this machine, for the sizes of its data"),
            ("rho estimate kmeans.rho --in points=mine.npy", "for the sizes of other data, which is not read"),
            ("rho estimate wave.rho --size n=2048 --size steps=50", "for other sizes; no data is needed"),
            ("rho estimate wave.rho --size n=2048 --devices here,laptop,workstation", "compare profiles"),
        ),
        (
            INPUT, SET, ALLOW_READ, SIZE,
            Option(("--devices",), Takes.VALUE, "NAME|FILE,…", "profiles, shipped or in files; `here` is this machine (here)",
                   file=READ),
            JSON, FORMAT_RESULT, STRICT, EXACT, OBJECTIVE, BUDGET, PROVE, FAST,
        ),
        1, 1,
    ),
    Verb(
        "fmt", "PATH… [options]", "canonical layout, names to glyphs",
        (("rho fmt wave.rho", "rewrites the file"), ("rho fmt --check src", "says which files would change; exit 1 if any"),
         ("rho fmt - < wave.rho", "standard input to standard output")),
        (
            Option(("--check",), Takes.NOTHING, "", "write nothing; exit 1 if a file is not in canonical layout"),
            Option(("--ascii",), Takes.NOTHING, "", "glyphs to names"),
            Option(("--diff",), Takes.NOTHING, "", "show what would change and write nothing; exit 1 if anything"),
        ),
        1, None,
    ),
    Verb(
        "doc", "NAME", "what a glyph, a name or a library function does",
        (("rho doc ⍤", ""), ("rho doc rank", ""), ("rho doc stats.mean", "")),
        (JSON, FORMAT_RESULT), 1, None,
    ),
    Verb(
        "explain", "CODE | GLYPH", "what an error code or a glyph means",
        (("rho explain E101", ""), ("rho explain ⌸", "")), (JSON, FORMAT_RESULT), 1, None,
    ),
    Verb(
        "search", "WORDS|TYPE [FILE.rho…]", "find functions by what they do, or by their type",
        (("rho search running sum", "also by other names: cumsum, argsort, vmap"),
         ("rho search 'f64[n] → f64'", "by type; `_` is anything: 'f64[n m] → _'"),
         ("rho search '_ → idx<k>[n]' examples/kmeans.rho", "the definitions of a file too")),
        (JSON, FORMAT_RESULT), 1, None,
    ),
    Verb(
        "test", "PATH…", "run the documented examples in .rho and .md files",
        (("rho test README.md docs stdlib", ""),),
        (JSON, FORMAT_RESULT), 1, None,
    ),
    Verb(
        "devices", "[options]", "what this machine has; how fast it is",
        (("rho devices --json", ""), ("rho devices --calibrate", "measures this machine: half a minute if it is calm"),
         ("rho devices --devices workstation", "what a shipped profile declares"),
         ("rho devices --devices cluster40 -o mine.toml", "a file to start from"),
         ("rho devices --cluster local:2", "workers, and links as they are measured"),
         ("rho devices --from my_costs.py --allow-code -o mine.toml", "what a function says, as a file")),
        (
            Option(("--from",), Takes.VALUE, "FILE.py", "run its `profile()` and write what it says", file=READ),
            Option(("--allow-code",), Takes.NOTHING, "", "the code that --from names may run"),
            Option(("--calibrate",), Takes.NOTHING, "", "measure this machine; kept for later runs"),
            Option(("--refine",), Takes.NOTHING, "", "measure longer, together with what is known"),
            Option(("--force",), Takes.NOTHING, "", "keep a calibration that other programs disturbed"),
            Option(("--check",), Takes.NOTHING, "", "compare what the cards of this machine compute with the processor"),
            Option(("--devices",), Takes.VALUE, "NAME|FILE", "a shipped profile, or one in a file, instead of this machine",
                   file=READ),
            CLUSTER, JSON, FORMAT_RESULT, OUT,
        ),
        0, 0,
    ),
    Verb("lsp", "", "the language server for editors, on standard input and output", (("rho lsp", "docs/editors.md"),), (), 0, 0),
    Verb(
        "kernel", "install [--user | --prefix DIR] [--name NAME]", "Rho in Jupyter notebooks",
        (("rho kernel install", "for Jupyter in the same environment"), ("rho kernel install --user", "for all of yours")),
        (
            Option(("--user",), Takes.NOTHING, "", "in your home folder"),
            Option(("--prefix",), Takes.VALUE, "DIR", "under DIR/share/jupyter"),
            Option(("--name",), Takes.VALUE, "NAME", "what Jupyter calls it (rho)"),
        ),
        1, 1,
    ),
    Verb("init", "DIR | --from FILE [NAME.rho]", "start a small project, or a program that reads a table",
         (("rho init waves", ""), ("rho init --from sales.csv", "sales.rho with an `input` line for each column")),
         (Option(("--from",), Takes.VALUE, "FILE", "a table, or an array, that becomes inputs", file=READ),), 0, 1),
    Verb(
        "completion", "bash | zsh | fish", "a script that completes commands in your shell",
        (('eval "$(rho completion bash)"', "in ~/.bashrc"), ("rho completion fish > ~/.config/fish/completions/rho.fish", "")),
        (), 1, 1,
    ),
    Verb("info", "", "versions, for a bug report", (("rho info", "rho --version: only which Rho"),), (JSON, FORMAT_RESULT), 0, 0),
    Verb("repl", "[FILE]", "an interactive session; piped lines run without prompts",
         (("rho", "docs/repl.md"), ("rho repl session.md", "go on from a saved session"),
          ("printf 'x ← ⍳5\\n+/x\\n' | rho repl", "")), (STRICT, ALLOW_READ), 0, 1),
)  # fmt: skip

MODULES: Final[Mapping[str, str]] = {
    "eval": "run",
    "estimate": "run",
    "type": "run",
    "test": "run",
    "fmt": "check",
    "doc": "documentation",
    "explain": "documentation",
    "search": "documentation",
    "info": "documentation",
    "repl": "interactive",
    "lsp": "interactive",
    "kernel": "interactive",
    "init": "interactive",
    "completion": "interactive",
}
"""The module of `shell.verbs` for each verb whose module has another name."""


def find_verb(name: str) -> Verb | None:
    return next((verb for verb in VERBS if verb.name == name), None)


# ---------------------------------------------------------------------------------------------------- help
#
# Help pages: examples first, then the options.

def overview() -> str:
    """`rho --help`."""
    lines = [
        "Rho: dense arrays whose shapes, memory and cost are known before anything runs.",
        "",
        *_examples(
            (
                ("rho eval '+/⍳10'", "one expression"),
                ("rho run examples/kmeans.rho", "a script and its data"),
                ("rho check examples", "types only"),
                ("rho doc ⍤", "what a glyph does"),
                ("rho", "an interactive session"),
            )
        ),
        "",
        "verbs",
        *_columns([(verb.name, verb.summary) for verb in VERBS]),
        "",
        "`rho VERB --help` has examples and options.  Results go to standard output, messages to standard error.",
        "Exit codes: 0 ok · 1 failed while running · 2 usage · 3 rejected by the checker · 4 refused by a bound, a guard or a",
        "permission · 5 a budget ran out · 70 a bug in Rho · 130 interrupted · 143 terminated.",
    ]
    return "\n".join(lines)


def help_page(verb: Verb) -> str:
    """`rho VERB --help`."""
    lines = [f"rho {verb.name} {verb.usage}".rstrip(), f"  {verb.summary}", "", *_examples(verb.examples), "", "options"]
    lines += _columns([(_spelling(option), option.doc) for option in (*verb.options, *COMMON)])
    return "\n".join(lines)


def _spelling(option: Option) -> str:
    text = ", ".join(option.spellings)
    if option.takes is not Takes.NOTHING:
        text += " " + option.value
    return text + ("…" if option.takes is Takes.VALUES else "")


def _examples(examples: tuple[tuple[str, str], ...]) -> list[str]:
    return ["examples", *_columns([(command, remark and "⍝ " + remark) for command, remark in examples])]


def _columns(rows: list[tuple[str, str]]) -> list[str]:
    width = min(48, max((len(left) for left, _ in rows), default=0))
    return [f"  {left:<{width}}  {right}".rstrip() for left, right in rows]


# ---------------------------------------------------------------------------------------------------- shared options
#
# Reads the options that several verbs share: a run's request, its permissions, its plan and its cluster.
#
# Everything wrong here is a usage error with a suggestion.

_MOST_RESTARTS: Final = 1000
PLANNER_OPTIONS: Final = (
    "--devices", "--objective", "--deadline", "--budget", "--prove", "--fast", "--without", "--require-optimal",
)  # fmt: skip
"""Options with which the scheduler of several devices makes the plan."""


def request_of(arguments: Arguments, console: Console) -> RunRequest:
    """The request that the options of `run`, `eval`, `plan` or `estimate` make.  UsageError: a value that is not valid."""
    from ..execution.params import parse_size
    from ..execution.run_request import Grouping, Limits, RunRequest

    params = arguments.pairs("--set", "PARAM=VALUE")
    inputs, given = arguments.pairs("--in", "NAME=PATH"), arguments.every_pair("--out", "NAME=PATH")
    files, headers = _output_files(given)
    outputs: dict[str, str] = {}
    for name, path in files:
        outputs.setdefault(name, path)
    check_streams(inputs, given, terminal=console.out.isatty(), program="-" in arguments.positional[:1])
    limits = Limits(_parse_bytes(arguments.value("--max-memory")), parse_seconds("--max-time", arguments.value("--max-time")))
    grouping = Grouping.AS_WRITTEN if arguments.has("--exact") else Grouping.CHEAPEST
    sizes = {name: parse_size("--size", name, text) for name, text in arguments.pairs("--size", "NAME=N").items()}
    return RunRequest(inputs, params, outputs, limits, console.input, grouping, sizes, headers=headers, files=tuple(files))


def _output_files(given: Sequence[tuple[str, str]]) -> tuple[list[tuple[str, str]], dict[str, str]]:
    """The outputs with their files, and for a matrix the output that names its columns, as in `day,total:region=report.csv`."""
    files: list[tuple[str, str]] = []
    headers: dict[str, str] = {}
    for names, path in given:
        for part in names.split(","):
            name, colon, header = map(str.strip, part.partition(":"))
            if colon:
                headers[name] = header
            if (name, path) in files:
                raise UsageError(f"--out names `{name}` twice for `{path}`", "give each name once")
            files.append((name, path))
    return files, headers


def permissions_of(arguments: Arguments, request: RunRequest, script: str, folder: str) -> Permissions:
    """Permissions for the script's folder, the files that options name, and `--allow-read` and `--allow-write`."""
    from ..execution.params import Permissions

    named = [script, *(_data_file(path) for path in request.inputs.values() if stream_of(path) is None)]
    writable = arguments.values("--allow-write")
    for option in ("--allow-read", "--allow-write"):
        for given in arguments.values(option):
            if option == "--allow-read" and is_url(given):
                if (trouble := url_error(given)) is not None:
                    raise UsageError(f"{option} {given} {trouble}")
            elif not os.path.isdir(given):
                raise UsageError(f"{option} {given}: there is no such folder")
    return Permissions.of([folder or ".", *arguments.values("--allow-read")], named, writable or None)


def _data_file(path: str) -> str:
    """The file of `path` or `archive.npz:member`."""
    from ...backend.io.formats import split_member

    return split_member(path)[0]


def _parse_bytes(text: str | None) -> int | None:
    if text is None:
        return None
    from ...lang.bind.directives import bytes_of

    if (count := bytes_of("".join(text.split()))) is None:
        raise UsageError(f"--max-memory {text}: write a number of bytes such as 500MB or 2GiB")
    return count


def scheduling_of(arguments: Arguments, purpose: PlanPurpose) -> Scheduling | None:
    """The scheduling that the options ask for; None if they ask for none.  UsageError: options that exclude each other."""
    from ..execution.scheduling import PlanningEffort, PlanPurpose, Scheduling

    if not any(arguments.has(name) for name in (*PLANNER_OPTIONS, "--plan", "--simulate", "--cluster", "--restarts")):
        return None
    effort_options = [option for option in ("--budget", "--prove", "--fast") if arguments.has(option)]
    if len(effort_options) > 1:
        first, second, *_ = effort_options
        raise UsageError(f"{first} and {second} say how long to search, each another way", "give one of them")
    effort = PlanningEffort.PROVE if arguments.has("--prove") else PlanningEffort.DEFAULT
    if arguments.has("--fast"):
        effort = PlanningEffort.FAST
    if arguments.value("--plan") is not None and any(arguments.has(name) for name in PLANNER_OPTIONS if name != "--devices"):
        raise UsageError("--plan runs a plan as it is stored", "options of the planner have no use beside it")
    budget = parse_seconds("--budget", arguments.value("--budget"), 86_400)
    return Scheduling(
        PlanPurpose.SIMULATE if arguments.has("--simulate") else purpose, arguments.value("--devices"),
        arguments.values("--objective"),
        effort, budget, arguments.value("--plan"), arguments.values("--without"),
        connection_of(arguments), _parse_deadline(arguments.value("--deadline")),
    )  # fmt: skip


def _parse_deadline(text: str | None) -> int | None:
    """The nanoseconds of a time such as `20ms`.  UsageError: not a time."""
    if text is None:
        return None
    from ...lang.bind.directives import ticks_of

    nanoseconds = None if text[-1:].isdigit() else ticks_of(text, 1)
    if not nanoseconds:
        raise UsageError(f"--deadline {text}: write a time such as 20ms (ns, us, ms or s)")
    return nanoseconds


def connection_of(arguments: Arguments) -> ClusterConnection | None:
    """The cluster of `--cluster`, not connected yet; None without the option.  UsageError: options that exclude it."""
    where = arguments.value("--cluster")
    if where is None:
        if arguments.has("--restarts"):
            raise UsageError("--restarts is for --cluster")
        return None
    if arguments.has("--simulate"):
        raise UsageError("--cluster runs a plan on workers, --simulate on none", "leave one of them out")
    from ..execution.clusters import RESTARTS, ClusterConnection

    text = arguments.value("--restarts") or str(RESTARTS)
    if (restarts := parse_natural(text, _MOST_RESTARTS)) is None:
        raise UsageError(f"--restarts {text}: write a number from 0 to {_MOST_RESTARTS}")
    return ClusterConnection(where, restarts, arguments.value("--devices"))
