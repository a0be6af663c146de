"""Options that several commands share: which rules, which files, which configuration."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from leakcheck.cli.parser import code_list, per_file_ignores, some_codes
from leakcheck.errors import LeakcheckError

if TYPE_CHECKING:
    from leakcheck.project.config import Config


def add_rule_options(parser: argparse.ArgumentParser) -> None:
    """`--select` and its like."""
    add = parser.add_argument_group("rules").add_argument
    add(
        "--select",
        type=some_codes,
        action="extend",
        metavar="CODES",
        help="report only these: codes, prefixes (LK1), names or ALL; what the configuration says is dropped",
    )
    add("--extend-select", type=code_list, action="extend", default=[], metavar="CODES", help="report these too")
    add("--ignore", type=code_list, action="extend", default=[], metavar="CODES", help="don't report these")
    add(
        "--per-file-ignores",
        type=per_file_ignores,
        action="extend",
        default=[],
        metavar="PATTERN:CODE,...",
        help="don't report these in files that match",
    )
    add("--require-reason", action="store_true", help="report suppressing comments that give no reason")


def add_file_options(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """`--exclude`, `--config` and their like; returns the group, for what a command adds."""
    group = parser.add_argument_group("files and configuration")
    add = group.add_argument
    add(
        "--exclude",
        type=code_list,
        action="extend",
        default=[],
        metavar="PATTERNS",
        help="leave out what matches, read as in .gitignore, besides what is left out anyway",
    )
    add("--force-exclude", action="store_true", help="leave out excluded files even if they are named")
    add_config_options(group)
    return group


def add_config_options(parser: argparse._ActionsContainer) -> None:
    """`--config` and `--isolated`."""
    parser.add_argument(
        "--config",
        action="append",
        default=[],
        metavar="FILE|KEY=VALUE",
        help="use this configuration file; or set a key of it, in TOML (may repeat)",
    )
    parser.add_argument("--isolated", action="store_true", help="use no configuration file")


def file_config(options: argparse.Namespace, places: Sequence[Path]) -> Config:
    """The configuration for some absolute paths, under `--config` and `--isolated`.

    Raises
    ------
    LeakcheckError
        If two files are given, or a file together with `--isolated`.
    """
    from leakcheck.project.config import find_config

    files = [given for given in options.config if "=" not in given or Path(given).is_file()]
    overrides = [given for given in options.config if given not in files]
    if len(files) > 1:
        raise LeakcheckError("one configuration holds for a run", expected="one --config FILE", found=", ".join(files))
    if files and options.isolated:
        raise LeakcheckError(f"--isolated uses no configuration file, --config {files[0]} names one")
    file = Path(files[0]) if files else None
    return find_config(places, file=file, isolated=options.isolated, overrides=overrides)


def use_rules_here() -> None:
    """Take the in-house rules of the working folder's project into use, for commands that read no other key."""
    from leakcheck.plugins import use_project_rules
    from leakcheck.project.config import find_config

    config = find_config([Path.cwd()])
    use_project_rules(config.root, config.rules)


def full_config(options: argparse.Namespace, places: Sequence[Path]) -> Config:
    """`file_config` under the options of `add_rule_options` and `add_file_options`."""
    return file_config(options, places).with_options(
        select=options.select,
        extend_select=options.extend_select,
        ignore=options.ignore,
        per_file_ignores=options.per_file_ignores,
        exclude=options.exclude,
        force_exclude=options.force_exclude,
        require_reason=options.require_reason,
    )
