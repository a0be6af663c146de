"""`leakcheck completion`: what a shell offers when the tab key is pressed, made from the commands' own parsers."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module

from leakcheck.cli import COMMANDS
from leakcheck.cli.parser import Parser

EXAMPLES = """\
examples:
  leakcheck completion bash > ~/.local/share/bash-completion/completions/leakcheck
  leakcheck completion zsh > ~/.zfunc/_leakcheck              (a folder of $fpath)
  leakcheck completion fish > ~/.config/fish/completions/leakcheck.fish
"""

_PLACES = ("FILE", "FOLDER", "PATH", "RESULTS", "SPLIT", "FILE|KEY=VALUE")  # metavars of what names files
_CODES = ("CODE", "CODES")


@dataclass(frozen=True)
class Option:
    """An option or, without names, the arguments of a command."""

    names: tuple[str, ...]
    help: str
    takes_value: bool
    words: tuple[str, ...]  # what its value can be, where that is known
    files: bool  # whether its value is a file

    @property
    def long(self) -> str:
        return self.names[-1]


def run(arguments: list[str]) -> int:
    """Print the script."""
    options = build_parser().parse_args(arguments)
    commands = {name: list(_options(name)) for name in COMMANDS}
    print({"bash": _bash, "zsh": _zsh, "fish": _fish}[options.shell](commands))
    return 0


def build_parser() -> Parser:
    """The options of the command."""
    parser = Parser("leakcheck completion", "SHELL", "Print the script that completes commands in a shell.", EXAMPLES)
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), metavar="SHELL", help="bash, zsh or fish")
    return parser


def _options(command: str) -> Iterator[Option]:
    parser: Parser = import_module(f"leakcheck.cli.{command}").build_parser()
    for action in parser._actions:
        if action.help is argparse.SUPPRESS:
            continue
        metavar = action.metavar if isinstance(action.metavar, str) else ""
        words = tuple(map(str, action.choices or ())) or (_codes() if metavar in _CODES else ())
        takes_value = action.nargs != 0
        files = takes_value and not words and (metavar in _PLACES or metavar.startswith("FILE"))
        yield Option(tuple(action.option_strings), " ".join((action.help or "").split()), takes_value, words, files)


def _codes() -> tuple[str, ...]:
    from leakcheck.project.select import known_codes

    return (*known_codes(), "ALL")


def _bash(commands: dict[str, list[Option]]) -> str:
    lines = [
        "_leakcheck() {",
        '    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=""',
        "    COMPREPLY=()",
        "    if ((COMP_CWORD > 1)); then command=${COMP_WORDS[1]}; fi",
        '    case "$command,$before" in',
    ]
    for command, options in commands.items():
        for option in options:
            if option.names and option.takes_value:
                patterns = "|".join(f"{command},{name}" for name in option.names)
                lines += [f"        {patterns})", f"            {_bash_values(option)}", "            return ;;"]
    lines += ["    esac", '    case "$command" in']
    for command, options in commands.items():
        names = " ".join(name for option in options for name in option.names)
        words = " ".join(word for option in options if not option.names for word in option.words)
        lines += [
            f"        {command})",
            f'            if [[ $word == -* ]]; then COMPREPLY=($(compgen -W "{names}" -- "$word"))',
            f'            else COMPREPLY=($(compgen -W "{words}" -- "$word")); fi ;;',
        ]
    first = " ".join((*commands, "--help", "--version"))
    lines += [f'        "") COMPREPLY=($(compgen -W "{first}" -- "$word")) ;;', "    esac", "}"]
    return "\n".join((*lines, "complete -o bashdefault -o default -F _leakcheck leakcheck"))


def _bash_values(option: Option) -> str:
    if option.words:
        return f'COMPREPLY=($(compgen -W "{" ".join(option.words)}" -- "$word"))'
    return 'COMPREPLY=($(compgen -f -- "$word"))' if option.files else ":"


def _zsh(commands: dict[str, list[Option]]) -> str:
    lines = ["#compdef leakcheck", "", "_leakcheck() {", "    local -a commands", "    commands=("]
    lines += [f"        {_quoted(f'{name}:{text}')}" for name, text in COMMANDS.items()]
    lines += [
        "    )",
        "    if ((CURRENT == 2)); then",
        "        _describe -t commands command commands",
        "        return",
    ]
    lines += ["    fi", "    local command=$words[2]", "    shift words", "    ((CURRENT--))", "    case $command in"]
    for command, options in commands.items():
        lines.append(f"        {command})")
        specs = [_quoted(spec) for option in options for spec in _zsh_specs(option)]
        lines.append(" \\\n                ".join(["            _arguments -s", *specs]) + " ;;")
    return "\n".join((*lines, "    esac", "}", "", 'if [[ $funcstack[1] == _leakcheck ]]; then', '    _leakcheck "$@"',
                      "else", "    compdef _leakcheck leakcheck", "fi"))  # fmt: skip


def _zsh_specs(option: Option) -> Iterator[str]:
    action = f"({' '.join(option.words)})" if option.words else "_files" if option.files else " "
    if not option.names:
        yield f"*:argument:{action}"
        return
    text = option.help.replace("[", r"\[").replace("]", r"\]").replace(":", r"\:")
    value = f":value:{action}" if option.takes_value else ""
    for name in option.names:
        yield f"*{name}[{text}]{value}"


def _fish(commands: dict[str, list[Option]]) -> str:
    none = _quoted(f"not __fish_seen_subcommand_from {' '.join(commands)}")
    lines = [f"complete -c leakcheck -f -n {none} -a {name} -d {_quoted(COMMANDS[name])}" for name in commands]
    lines.append(f"complete -c leakcheck -f -n {none} -l version -d 'print the version'")
    for command, options in commands.items():
        here = f"complete -c leakcheck -n {_quoted(f'__fish_seen_subcommand_from {command}')}"
        for option in options:
            names = " ".join(_fish_name(name) for name in option.names)
            values = f" -a {_quoted(' '.join(option.words))}" if option.words else ""
            if not option.names:
                lines.append(f"{here} -f{values}" if values else f"{here} -F")
                continue
            kind = "" if not option.takes_value else " -r -F" if option.files else " -x"
            lines.append(f"{here} {names}{kind}{values} -d {_quoted(option.help)}")
    return "\n".join(lines)


def _fish_name(name: str) -> str:
    return f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"


def _quoted(text: str) -> str:
    """A word for zsh and fish: both disagree on how a quote stands inside quotes, so another one takes its place."""
    return "'" + text.replace("'", "\u2019") + "'"
