"""`leakcheck clean`"""

from __future__ import annotations

import shutil
from pathlib import Path

from leakcheck.cli.options import add_config_options, file_config
from leakcheck.cli.parser import Parser
from leakcheck.errors import LeakcheckError
from leakcheck.project.cache import FOLDER, TAG, is_cache
from leakcheck.project.paths import shown

EXAMPLES = """\
examples:
  leakcheck clean
  leakcheck clean --cache-dir /tmp/leakcheck
"""


def run(arguments: list[str]) -> int:
    """Remove the cache; it is no fault that there is none."""
    options = build_parser().parse_args(arguments)
    folder = Path(options.cache_dir or file_config(options, [Path.cwd()]).root / FOLDER)
    if not folder.is_dir():
        print(f"there is no cache at {shown(folder)}")
        return 0
    _require_cache(folder)
    try:
        shutil.rmtree(folder)
    except OSError as error:
        where = shown(error.filename) if error.filename else shown(folder)
        raise LeakcheckError(f"the cache can't be removed: {error.strerror or error}", file=where) from None
    print(f"removed {shown(folder)}")
    return 0


def build_parser() -> Parser:
    """The options of the command."""
    parser = Parser("leakcheck clean", "", "Remove the cache of the working folder's project.", EXAMPLES)
    parser.add_argument("--cache-dir", metavar="FOLDER", help=f"the cache (default: {FOLDER} of the project)")
    add_config_options(parser)
    return parser


def _require_cache(folder: Path) -> None:
    """Only a folder that says it is a cache of ours is removed."""
    if not is_cache(folder) or folder.is_symlink():
        raise LeakcheckError(
            "not a cache; nothing was removed", file=shown(folder), expected=f"a folder with our {TAG}"
        )
