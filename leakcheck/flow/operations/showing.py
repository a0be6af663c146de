"""Where the code shows scores side by side: the comparison that a reader will make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from leakcheck.flow.events import Meet, Score
from leakcheck.flow.operations.base import Operations
from leakcheck.flow.operations.common import roles_in
from leakcheck.flow.rows import Rows, Site
from leakcheck.flow.values import Const, Data, DictObject, Items, ListObject, Value

if TYPE_CHECKING:
    from leakcheck.flow.interpret import Interpreter

_SHOWN = frozenset({"score", "own"})


class Showing(Operations):
    """Scores side by side."""

    def __init__(self, interpreter: Interpreter) -> None:
        super().__init__(interpreter)
        self.called: dict[Score, set[str]] = {}  # the roles that the words in front of a shown score say
        self._printed: tuple[Site, list[Value]] | None = None  # by the print statements that end here

    def meet(self, values: Iterable[Value], site: Site, *, adjacent: bool = False) -> None:
        """Note where scores of several models on the same rows stand beside each other."""
        if not self.i.scoring.several:
            return
        methods: dict[tuple[Rows, frozenset[str]], dict[frozenset[int | None], tuple[Score, ...]]] = {}
        for value in values:
            if isinstance(value, Const):
                continue
            for leaf in self._leaves(value):
                if leaf.rows or not leaf.marks:
                    continue
                scores = [m for m in leaf.marks if isinstance(m, Score) and m.kind in _SHOWN and m.model is not None]
                if scores and all(score.rows == scores[0].rows for score in scores):
                    ordered = tuple(sorted(scores, key=lambda score: (score.site.path, score.site.span)))
                    # A blend of several models is one method.
                    models = frozenset(score.model for score in scores)
                    what = frozenset(score.what for score in scores)
                    methods.setdefault((scores[0].rows, what), {}).setdefault(models, ordered)
        for together in methods.values():
            if len(together) > 1:
                shown = tuple(together.values())
                self.i.emit((site, shown), Meet(shown, site, adjacent))

    def call(self, parts: Iterable[Value]) -> None:
        """Note what the text in front of each shown score calls its rows."""
        said: set[str] = set()
        for part in parts:
            held = self.heap.load(part)
            if isinstance(held, Const):
                said = roles_in(str(held.value)) if any(map(str.isalpha, str(held.value))) else said
            elif said:
                for mark in self.heap.data(part).marks:
                    if isinstance(mark, Score):
                        self.called.setdefault(mark, set()).update(said)

    def printed(self, values: list[Value], site: Site) -> None:
        """What one print statement shows, and what it shows with the one on the line before."""
        if not self.i.scoring.models:
            return
        self.call(values)
        self.meet(values, site)
        statement = self.i.statement_site()
        before, shown = self._printed or (None, [])
        follows = before is not None and before._replace(span=statement.span) == statement
        if before is None or not follows or before.span[2] + 1 != statement.span[0]:
            shown = []
        shown = [*shown, *values]
        self._printed = (statement, shown)
        self.meet(shown, site, adjacent=True)

    def _leaves(self, value: Value, depth: int = 0) -> Iterator[Data]:
        """What a container holds, as far as its items are told apart."""
        held = self.heap.load(value)
        if isinstance(held, Data):
            yield held
        elif depth < 4:
            items: Iterable[Value] = ()
            if isinstance(held, Items | ListObject):
                items = held.items or ()
            elif isinstance(held, DictObject):
                items = held.items.values()
            for item in items:
                yield from self._leaves(item, depth + 1)
