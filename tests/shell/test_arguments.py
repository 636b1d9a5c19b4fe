"""Reading command lines: options, expressions that look like options, suggestions."""

from __future__ import annotations

import pytest

from rho.shell.cli import arguments as registry
from rho.shell.cli.arguments import Arguments, parse_arguments
from rho.shell.console.process_exit import UsageError


def parse(verb: str, *words: str) -> Arguments:
    found = registry.find_verb(verb)
    assert found is not None
    return parse_arguments(verb, words, (*found.options, *registry.COMMON))


def test_values_repeat_and_keep_their_order() -> None:
    arguments = parse("run", "a.rho", "--in", "x=1.npy", "--in=y=2.npy", "--json")
    assert arguments.positional == ("a.rho",)
    assert arguments.pairs("--in", "NAME=PATH") == {"x": "1.npy", "y": "2.npy"}
    assert arguments.has("--json")


@pytest.mark.parametrize("expression", ["-3", "-/1 2 3", "-", "-x", "--3", "¯1"])
def test_an_expression_may_start_with_a_minus(expression: str) -> None:
    if expression == "-x":
        with pytest.raises(UsageError, match="unknown option -x"):
            parse("eval", expression)
    else:
        assert parse("eval", expression).positional == (expression,)
    assert parse("eval", "--", expression).positional == (expression,)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--jsn",), "did you mean --json"),
        (("--ot", "x=y"), "did you mean --out"),
        (("--max-memry", "1"), "did you mean --max-memory"),
        (("--in",), "needs a value"),
        (("--json=yes",), "takes no value"),
        (("--max-time", "1", "--max-time", "2"), "given twice"),
        (("--format", "jsn"), "did you mean `json`"),
    ],
)
def test_wrong_options_say_what_was_meant(words: tuple[str, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse("run", "a.rho", *words)


@pytest.mark.parametrize("text", ["x", "=a.npy", "x=", " =y"])
def test_pairs_need_both_sides(text: str) -> None:
    with pytest.raises(UsageError, match="not of the form"):
        parse("run", "a.rho", "--in", text).pairs("--in", "NAME=PATH")


def test_a_name_given_twice_is_refused() -> None:
    with pytest.raises(UsageError, match="names `x` twice"):
        parse("run", "a.rho", "--in", "x=1", "--in", "x=2").pairs("--in", "NAME=PATH")


def test_every_verb_has_a_module_and_examples_first() -> None:
    from importlib import import_module

    from rho.shell.cli.arguments import help_page

    for verb in registry.VERBS:
        assert callable(getattr(import_module(f"rho.shell.verbs.{registry.MODULES.get(verb.name, verb.name)}"),
            f"{verb.name}_command"))
        assert help_page(verb).index("\nexamples") < help_page(verb).index("\noptions")
