"""`rho completion SHELL`: a script that completes verbs, options, their choices and file names, made from the registry."""

from __future__ import annotations

from collections.abc import Iterable

from ..cli.arguments import Arguments, Option, Takes, UsageError, near
from ..cli.console import Console
from ..cli.exits import Exit
from ..cli.registry import COMMON, VERBS

_BASH = """\
# rho completion bash: put `eval "$(rho completion bash)"` into ~/.bashrc
_rho() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "%(verbs)s" -- "$word"))
    return
  fi
  case "${COMP_WORDS[1]} $before" in
%(choices)s
  esac
  case "$word" in -*) ;; *) COMPREPLY=($(compgen -f -- "$word")); return ;; esac
  case "${COMP_WORDS[1]}" in
%(options)s
  esac
}
complete -o filenames -F _rho rho
"""
_ZSH = """\
# rho completion zsh: put `eval "$(rho completion zsh)"` into ~/.zshrc
autoload -U +X bashcompinit && bashcompinit
"""


def run(arguments: Arguments, console: Console) -> Exit:
    shell = arguments.positional[0]
    made = _SHELLS.get(shell)
    if made is None:
        guess = near(shell, list(_SHELLS))
        raise UsageError(f"rho completion: there is no completion for `{shell}`{guess}", f"one of {', '.join(_SHELLS)}")
    console.out.write(made())
    return Exit.OK


def _options(options: Iterable[Option]) -> list[Option]:
    return [*options, *COMMON]


def _bash() -> str:
    choices = [
        f'    "{verb.name} {spelling}") COMPREPLY=($(compgen -W "{" ".join(option.choices)}" -- "$word")); return ;;'
        for verb in VERBS for option in _options(verb.options) if option.choices for spelling in option.spellings
    ]  # fmt: skip
    options = [
        f'    {verb.name}) COMPREPLY=($(compgen -W "{" ".join(s for o in _options(verb.options) for s in o.spellings)}" '
        f'-- "$word")) ;;'
        for verb in VERBS
    ]
    names = " ".join(verb.name for verb in VERBS)
    return _BASH % {"verbs": names, "choices": "\n".join(choices), "options": "\n".join(options)}


def _zsh() -> str:
    return _ZSH + _bash().partition("\n")[2]


def _fish() -> str:
    lines = ["# rho completion fish: rho completion fish > ~/.config/fish/completions/rho.fish"]
    for verb in VERBS:
        lines.append(f"complete -c rho -n __fish_use_subcommand -a {verb.name} -d {_quoted(verb.summary)}")
        for option in _options(verb.options):
            spelt = " ".join(f"-l {s[2:]}" if s.startswith("--") else f"-s {s[1:]}" for s in option.spellings)
            choices = f" -x -a {_quoted(' '.join(option.choices))}" if option.choices else " -r"
            value = "" if option.takes is Takes.NOTHING else choices
            lines.append(
                f"complete -c rho -n '__fish_seen_subcommand_from {verb.name}' {spelt}{value} -d {_quoted(option.doc)}"
            )
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


_SHELLS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
