"""The libraries that the claims leg needs."""

from __future__ import annotations

from importlib.util import find_spec

from leakcheck.errors import LeakcheckError

_NEEDED = ("numpy", "scipy", "statsmodels", "pandas", "yaml")


def require_libraries() -> None:
    """Say in one line what to install, where a library is missing."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise LeakcheckError(
            f"comparing runs needs {', '.join(missing)}: install it with pip install 'leakcheck-lint[claims]'"
        )
