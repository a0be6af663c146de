"""A line on a terminal that shows how far a long run is."""

from __future__ import annotations

import sys
import time

_PATIENCE = 1.0  # seconds before anything is shown
_INTERVAL = 0.1  # seconds between two updates


class ProgressLine:
    """Writes to stderr, on a terminal only, and leaves nothing behind."""

    def __init__(self, enabled: bool) -> None:
        self._enabled = enabled and sys.stderr.isatty()
        self._next = time.monotonic() + _PATIENCE
        self._shown = False

    def __call__(self, what: str, done: int, total: int) -> None:
        if not self._enabled or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _INTERVAL
        self._show(f"{what}: {done} of {total}")

    def _show(self, text: str) -> None:
        self._shown = True
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


class StepLine(ProgressLine):
    """Shows each of a few long steps as it begins; one that began early may be the one that takes all the time."""

    def __call__(self, what: str, done: int, total: int) -> None:
        if self._enabled:
            self._show(f"{what} ({done + 1} of {total})")
