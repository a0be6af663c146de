"""Calls of library names, by the tables."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from leakcheck.flow.facts import UnknownKind
from leakcheck.flow.operations.base import Operations, handlers
from leakcheck.flow.operations.common import SEARCH_CALLS, UNKNOWN_CLASS, last_part, no_args, words_of
from leakcheck.flow.operations.randomness import UNKNOWN_ARGUMENTS
from leakcheck.flow.operations.series import SERIES_KINDS
from leakcheck.flow.operations.special import FUNCTIONS
from leakcheck.flow.rows import Site
from leakcheck.flow.tables import Api
from leakcheck.flow.values import (
    UNKNOWN,
    Const,
    LibObject,
    Value,
)

if TYPE_CHECKING:
    from leakcheck.flow.interpret import Args, Interpreter

# Libraries that learn nothing from rows and hand none on to a model: nobody need describe them.
_LEARN_NOTHING = sys.stdlib_module_names | {
    *("matplotlib", "seaborn", "plotly", "bokeh", "altair"),
    *("click", "rich", "yaml", "requests", "loguru", "typer"),
}
_OBJECT_PARTS = frozenset(
    [
        "transformer",
        "resampler",
        "estimator",
        "pipeline",
        "union",
        "search",
        "splitter",
        "network",
        "optimizer",
        "loss",
        "callback",
        "metric",
        "object",
    ]
)


class Library(Operations):
    """The meaning of library names."""

    def __init__(self, interpreter: Interpreter) -> None:
        super().__init__(interpreter)
        i = interpreter
        self._parts = handlers("p_", self, i.loading, i.splitting, i.callables, i.scoring)
        self._functions: dict[str, Callable[[str, Args, Site], Value]] = {
            name: getattr(i.special, method) for name, method in FUNCTIONS.items()
        }

    def call(self, name: str, args: Args, site: Site) -> Value:
        if name.startswith("builtins."):
            return self.i.builtins.builtin(name[9:], args, site)
        api = self.i.tables.lookup(name)
        full = api.name if api is not None else name
        special = self._functions.get(full) or self._functions.get(name)
        if special is not None:
            return special(full, args, site)
        if api is None:
            return self._unknown(name, args, site)
        # A loss is a class to be called later, or a function of predictions and target.
        if api.part in _OBJECT_PARTS and not (api.part == "loss" and last_part(api.name)[:1].islower()):
            return self.construct(api, args, site)
        handler = self._parts.get(api.part.replace("-", "_"))
        if handler is None:
            return self.i.data.pass_through(args)
        result = handler(api, args, site)
        return self.i.series.called(api, args, result, site) if api.kind in SERIES_KINDS else result

    def _unknown(self, name: str, args: Args, site: Site) -> Value:
        short = last_part(name)
        self.i.randomness.seed_by_name(short)
        for value in args.all():
            if short in SEARCH_CALLS:
                self.i.scoring.objective(value, site)
        if "." in name:
            owner = self.i.tables.lookup(name.rsplit(".", 1)[0])
            if (
                owner is not None
                and owner.part in _OBJECT_PARTS
                and short in ("from_pretrained", "from_config", "load", "from_json")
            ):
                return self.construct(owner, no_args(), site)
        if name.split(".", 1)[0] not in _LEARN_NOTHING:
            self.i.note_unknown(UnknownKind.CALLABLE, name, site)
        if short[:1].isupper() and not any(self.heap.data(v).rows for v in args.all()):
            # A class that is not known may still be fitted and scored by the usual methods.
            return self.construct(UNKNOWN_CLASS._replace(name=name), args, site)
        return self.i.data.from_outside(short, self.i.data.pass_through(args), args, site)

    def named(self, api: Api, args: Args) -> dict[str, Value]:
        """The arguments by parameter name."""
        values = dict(args.kw)
        for param, value in zip(api.params, args.pos, strict=False):
            if param.startswith("*"):
                break
            values.setdefault(param, value)
        if args.star:
            values[UNKNOWN_ARGUMENTS] = UNKNOWN
        return values

    def construct(self, api: Api, args: Args, site: Site) -> Value:
        values = self.named(api, args)
        for n, value in enumerate(args.pos):
            values.setdefault(f"#{n}", value)
        parts: tuple[Value, ...] = ()
        if api.part in ("pipeline", "union", "search", "estimator", "transformer", "network"):
            wrapped = [values[w] for w in api.wraps if w in values] if api.wraps else []
            if api.part in ("pipeline", "union", "search") and not wrapped:
                wrapped = args.all()
            if api.part in ("pipeline", "union", "network"):
                wrapped = args.all()
            parts = tuple(self.i.learners.learners(wrapped))
        held = LibObject(api, values, parts, site, self.i.loops)
        made = self.heap.new(held)
        if api.learns_from and api.learns_from in values:
            data = self.heap.data(values[api.learns_from])
            if data.rows and api.learns not in ("", "nothing"):
                learned = self.i.data.learn(last_part(api.name), api.learns, data, site, fitted=True)
                self.heap.set(made.address, replace(held, learned=frozenset({learned})))
        return made

    def is_true(self, value: Value | None) -> bool:
        held = self.heap.load(value) if value is not None else None
        return isinstance(held, Const) and held.value is True

    def is_false(self, value: Value | None) -> bool:
        held = self.heap.load(value) if value is not None else None
        return isinstance(held, Const) and held.value is False

    def words_of(self, value: Value) -> list[str]:
        held = self.heap.load(value)
        return words_of(held.value) if isinstance(held, Const) and isinstance(held.value, str) else []
