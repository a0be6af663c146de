"""The command line. Only `sys` and `argparse` are loaded here; a command's module when it is chosen."""

import argparse
import sys

from leakcheck import __version__

INTERRUPTED = 130  # as a shell reports a process that was ended by ctrl-c

# Each command, which is a module of this package, and one line of help.
COMMANDS = {
    "scan": "find leaks in Python files and notebooks",
    "audit": "find what evaluation splits share with training, and shortcuts",
    "compare": "compare two methods on the same runs",
    "baseline": "accept today's findings: a scan hides them from then on",
    "rule": "show what a rule finds and why it matters, or start a new rule",
    "config": "show the configuration in force and where each value comes from",
    "clean": "remove the cache",
    "completion": "print the completion script of a shell",
}

EXAMPLES = """\
examples:
  leakcheck scan                                     the code of the working folder
  leakcheck audit train.csv test.csv --target label  its data
  leakcheck compare seeds.csv --a baseline --b ours  a claimed difference
  leakcheck rule LK101                               what a code means

exit status: 0 nothing to report, 1 findings, 2 something could not be done
`leakcheck COMMAND --help` shows the options of a command
"""


def main(argv: list[str] | None = None) -> int:
    """Run a command; the exit status is 0 for nothing to report, 1 for findings, 2 for what couldn't be done."""
    arguments = sys.argv[1:] if argv is None else argv
    try:
        return _run(arguments)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        _discard_output()
        return 0
    except OSError as error:
        print(f"leakcheck: the output can't be written: {error.strerror}", file=sys.stderr)
        _discard_output()
        return 2


def _run(arguments: list[str]) -> int:
    commands = "\n".join(f"  {name:<12}{text}" for name, text in COMMANDS.items())
    parser = argparse.ArgumentParser(
        prog="leakcheck",
        usage="leakcheck COMMAND [OPTIONS] [ARGUMENTS]",
        description="Find data leakage and unsound evaluation in machine-learning projects.\n"
        f"Their code is read, never run.\n\ncommands:\n{commands}",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"leakcheck {__version__}")
    parser.add_argument("command", help=argparse.SUPPRESS)
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    if not arguments:
        parser.print_help(sys.stderr)
        return 2
    try:
        chosen = parser.parse_args(arguments)
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else 2
    if chosen.command not in COMMANDS:
        from os.path import exists

        from leakcheck.project.nearest import nearest

        if exists(chosen.command):
            hint = f"; did you mean `leakcheck scan {chosen.command}`?"
        else:
            hint = nearest(chosen.command, COMMANDS) or f" (known: {', '.join(COMMANDS)})"
        print(f"leakcheck: unknown command {chosen.command!r}{hint}", file=sys.stderr)
        return 2
    from importlib import import_module

    from leakcheck.cli.streams import prepare_streams
    from leakcheck.errors import LeakcheckError

    prepare_streams()
    module = import_module(f"leakcheck.cli.{chosen.command}")
    try:
        status: int = module.run(chosen.arguments)
        sys.stdout.flush()
        return status
    except LeakcheckError as error:
        from leakcheck.report.text import clean

        print(f"leakcheck: {clean(str(error))}", file=sys.stderr)
        return 2
    except SystemExit as done:  # argparse has spoken
        return done.code if isinstance(done.code, int) else 2


def _discard_output() -> None:
    """Keep Python from complaining at exit that nobody reads."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
