"""`leakcheck config`: the configuration in force, and where each value comes from."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leakcheck.cli.options import add_file_options, add_rule_options, full_config
from leakcheck.cli.parser import Parser
from leakcheck.plugins import use_project_rules
from leakcheck.project.config import KEYS, Config
from leakcheck.project.config_lines import key_lines
from leakcheck.project.discover import DEFAULT_EXCLUDE
from leakcheck.project.paths import shown
from leakcheck.project.select import Selection

EXAMPLES = """\
examples:
  leakcheck config                                what holds in the working folder
  leakcheck config src/train.py                   what holds for a scan of this file
  leakcheck config --ignore LK501 --output-format json
"""

# What holds where a key is not set, in words, for what TOML can't say.
_UNSET = {"select": "errors and warnings", "baseline": "none"}


@dataclass(frozen=True)
class Entry:
    """One key: its value (None where TOML has none for it), and where the value comes from, the last word last."""

    key: str
    value: Any
    origins: tuple[str, ...]


def run(arguments: list[str]) -> int:
    """Print the configuration."""
    options = build_parser().parse_args(arguments)
    config = full_config(options, [Path(path).absolute() for path in options.paths or (".",)])
    use_project_rules(config.root, config.rules)
    Selection.of(config)  # refuses what a scan would refuse
    entries = _entries(config)
    print(_json(config, entries) if options.output_format == "json" else _toml(config, entries))
    return 0


def build_parser() -> Parser:
    """The options of the command."""
    parser = Parser(
        "leakcheck config",
        "[PATH ...]",
        "Show the configuration that a scan of the paths uses, as TOML, and where each value comes from: the default, "
        "the file and its line, or the command line.",
        EXAMPLES,
    )
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files and folders (default: the working folder)")
    add_rule_options(parser)
    add_file_options(parser)
    output = parser.add_argument_group("output")
    output.add_argument("--output-format", choices=("full", "json"), default="full", help="(default: full)")
    return parser


def _entries(config: Config) -> list[Entry]:
    lines = key_lines(config.file) if config.file else {}
    return [Entry(key, _value(config, key), _origins(config, key, lines)) for key in KEYS]


def _value(config: Config, key: str) -> Any:
    value = getattr(config, key.replace("-", "_"))
    if key == "exclude" and value is None:
        return sorted(DEFAULT_EXCLUDE)
    if key == "src" and not value:
        return ["src"]
    if key == "per-file-ignores":
        ignores: dict[str, list[str]] = {}
        for pattern, codes in value:
            ignores.setdefault(pattern, []).extend(codes)
        return ignores
    return list(value) if isinstance(value, tuple) else value


def _origins(config: Config, key: str, lines: Mapping[str, int]) -> tuple[str, ...]:
    origins = []
    if key in config.from_file and config.file:
        line = lines.get(key)
        origins.append(shown(config.file) + (f":{line}" if line else ""))
    if key in config.from_overrides or key in config.from_options:
        origins.append("command line")
    return tuple(origins) or ("default",)


def _toml(config: Config, entries: list[Entry]) -> str:
    where = f"configuration: {shown(config.file)}" if config.file else "no configuration file"
    lines = [f"# {where}; paths are relative to {shown(config.root)}"]
    for entry in entries:
        is_set = entry.value is not None
        said = f"{entry.key} = {_written(entry.value)}" if is_set else f"# {entry.key}: {_UNSET[entry.key]}"
        lines.append(f"{said}  # {', '.join(entry.origins)}")
    return "\n".join(lines)


def _json(config: Config, entries: list[Entry]) -> str:
    record = {
        "version": 1,
        "file": shown(config.file) if config.file else None,
        "root": shown(config.root),
        "values": {entry.key: {"value": entry.value, "from": list(entry.origins)} for entry in entries},
    }
    return json.dumps(record, indent=2, default=str)


def _written(value: Any) -> str:
    """A value in TOML, on one line."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list):
        return f"[{', '.join(map(_written, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(key)} = {_written(item)}" for key, item in value.items()) + "}"
    return str(value)  # numbers and dates


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _written(key)
