"""Help pages: examples first, then the options."""

from __future__ import annotations

from .arguments import Option, Takes
from .registry import COMMON, VERBS, Verb


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


def page(verb: Verb) -> str:
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
