"""Callables that divide rows: splits, folds, draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from leakcheck.flow.events import Split
from leakcheck.flow.operations.base import Operations
from leakcheck.flow.operations.common import last_part
from leakcheck.flow.rows import NO_ROWS, Cut, CutKind, Rows, Site, narrow
from leakcheck.flow.tables import Api
from leakcheck.flow.values import (
    NONE,
    UNKNOWN,
    Const,
    Data,
    Instance,
    Items,
    LibObject,
    Ref,
    Value,
)

if TYPE_CHECKING:
    from leakcheck.flow.interpret import Args

# Splitters that keep rows together or in order, or of which nothing is known.
_APART = frozenset({"group", "predefined", "time", "unknown"})


class Splitting(Operations):
    """Callables that divide rows."""

    def p_split(self, api: Api, args: Args, site: Site) -> Value:
        arrays: list[Value] = list(args.pos)
        arrays += [v for k, v in args.kw.items() if k in ("X", "y", "arrays", "data")]
        parts, cut = self.split_in_two(arrays, args, site, last_part(api.name), api.kind)
        self.i.randomness.split(api, self.i.library.named(api, args), site, cut)
        return Items(tuple(parts))

    def split_in_two(
        self, arrays: Sequence[Value], args: Args, site: Site, what: str, apart: str = ""
    ) -> tuple[list[Value], Cut]:
        several = [self._whole(self.i.loading.content(value), site) for value in arrays]
        seed = self.i.randomness.seed_of(args.kw.get("random_state", args.kw.get("seed")))
        rows = next((d.rows for d in several if d.rows), NO_ROWS)
        # What is split together has the same rows, though of one of them no more is known.
        several = [
            d.but(rows=rows, kind="array") if d.number and d.kind == "scalar" and not d.rows else d for d in several
        ]
        shuffled = apart != "time" and not self.i.library.is_false(args.kw.get("shuffle"))
        sizes = tuple(
            (k, self.heap.data(args.kw[k]).number) for k in ("test_size", "train_size", "stratify") if k in args.kw
        )
        key: object = ("two", rows, sizes, seed)
        if shuffled and seed is None:
            key = ("two", self.i.randomness.origin(site), rows)
        size = self.heap.load(args.kw.get("test_size", NONE))
        share = float(size.value) if isinstance(size, Const) and isinstance(size.value, float) else None
        cut = self.i.data.cut(
            key,
            CutKind.RANDOM if shuffled else CutKind.POSITION,
            site,
            roles=("train", "test"),
            share=share,
            shuffled=shuffled or any("shuffled" in d.flags for d in several),
            apart=apart,
        )
        parts: list[Value] = []
        for data in several:
            parts += [self._part(data, cut, 0), self._part(data, cut, 1)]
        event = Split(cut, rows, site, self.i.loops, what, tuple(several))
        self.i.emit((site, cut), event)
        return parts, cut

    def _whole(self, data: Data, site: Site) -> Data:
        """What is split, as rows: `range(n)` stands for the positions of rows, whatever counted them."""
        if data.kind == "index" and not data.rows and data.keys is None and data.number:
            return self.i.positions.index(site, data.number, data.flags)
        return self.i.data.rooted(data, site)

    def _part(self, data: Data, cut: Cut, part: int) -> Data:
        if not data.rows and data.kind != "index":
            return data
        narrowed = self.i.data.narrowed(
            data.but(keys=data.keys if data.keys is not None else (data.rows if data.kind == "index" else None)),
            cut,
            part,
        )
        return narrowed.but(name="")

    def p_random_split(self, api: Api, args: Args, site: Site) -> Value:
        data = self.i.loading.content(args.pos[0]) if args.pos else UNKNOWN
        if args.pos and isinstance(self.heap.load(args.pos[0]), Instance):
            data = self.i.series.windows_of(args.pos[0], data, site)
        lengths = self.i.containers.unpack(args.get(1, "lengths") or NONE, None)
        given = self.i.library.named(api, args).get(api.seed, NONE)
        seed = ("seed of a generator", self.i.data.loop_ids()) if self.heap.load(given) != NONE else None
        parts, cut = self.random_parts(data, len(lengths) if lengths else 2, site, last_part(api.name), seed)
        self.i.randomness.split(api, self.i.library.named(api, args), site, cut)
        return parts

    def random_parts(self, data: Data, count: int, site: Site, what: str, seed: object = None) -> tuple[Value, Cut]:
        roles = {2: ("train", "test"), 3: ("train", "validation", "test")}.get(count, ("train", *[""] * (count - 1)))
        origin = self.i.randomness.origin(site, seed)
        cut = self.i.data.cut(("parts", origin, data.rows), CutKind.RANDOM, site, roles=roles)
        self.i.emit((site, cut), Split(cut, data.rows, site, self.i.loops, what, (data,)))
        return Items(tuple(self._part(data, cut, n) for n in range(count))), cut

    def folds(self, data: Data, site: Site, given: Any, owner: object, groups: Value | None = None) -> tuple[Cut, Rows]:
        """The cut that a splitter, a number of folds or prepared folds make over rows."""
        held = given if isinstance(given, LibObject) else None
        rows = data.keys if data.keys is not None else data.rows
        if not rows:
            rows = self.i.new_rows("rows", site, "unknown", "index").rows
        prepared = self._prepared(given)
        if prepared is not None:
            return prepared, rows
        kind = held.api.kind if held is not None else "fold"
        single = kind == "shuffle"
        if not (isinstance(given, LibObject | Const) or given is None or getattr(given, "kind", "") == "scalar"):
            kind = "predefined"
        shuffled = "shuffled" in data.flags or (
            (held is not None)
            and (
                single
                or last_part(held.api.name).startswith("Repeated")
                or self.i.library.is_true(held.args.get("shuffle", held.args.get("#1")))
            )
        )
        keys = self.i.series.keys(self.heap.data(groups)) if groups is not None and kind == "group" else frozenset()
        cut = self.i.data.cut(
            ("fold", owner, rows, keys),
            CutKind.RANDOM if single else CutKind.FOLD,
            site,
            roles=("train", "test") if single else ("train", "fold"),
            shuffled=shuffled and kind not in _APART,
            apart=kind if kind in _APART else "",
            keys=keys,
        )
        self.i.emit(
            (site, cut), Split(cut, rows, site, self.i.loops, last_part(held.api.name) if held else "folds", (data,))
        )
        if held is not None:
            self.i.randomness.splitter(held, cut)
        return cut, rows

    def _prepared(self, given: Any) -> Cut | None:
        """The cut behind folds that a splitter has made before (`cv=folds.split(X)`)."""
        if not isinstance(given, Data) or "folds" not in given.flags or not given.each:
            return None
        indices = self.i.containers.unpack(given.each[0], 2) or []
        return next((steps[-1][0] for i in indices for _, steps in self.heap.data(i).rows if steps), None)

    def preferred(self, options: Sequence[Value]) -> Sequence[Value]:
        """Of splitters that depend on a condition, the one for groups: the others are for when there are none."""
        held = [(option, self.heap.load(option)) for option in options]
        return [option for option, o in held if isinstance(o, LibObject) and o.api.kind == "group"][:1] or options

    def split_folds(self, owner: Value, held: LibObject, args: Args, site: Site) -> Value:
        data = self.heap.data(args.pos[0] if args.pos else args.kw.get("X"))
        if not data.rows and data.keys is None and len(args.pos) > 1:
            data = self.heap.data(args.pos[1])
        groups = args.get(2, held.api.groups or "groups")
        self.i.series.note_entities(groups, data, site)
        same = self._same_folds(held)
        cut, rows = self.folds(data, site, held, same or (owner.address if isinstance(owner, Ref) else site), groups)
        self.i.cuts_used.update({(cut, 0), (cut, 1)})
        parts = []
        for n in range(2):
            keys = narrow(rows, cut, n)
            parts.append(Data(rows=keys, keys=keys, kind="index", number=self.heap.number("fold", id(cut), n)))
        return Data(flags=frozenset({"folds"}), each=(Items(tuple(parts)),), number=self.heap.fresh())

    def _same_folds(self, held: LibObject) -> object:
        """What splitters have in common that make the same folds; None for one that draws without a known seed."""
        if held.api.kind == "unknown" or self.i.randomness.unseeded(held.api, held.args):
            return None
        seed = self.i.randomness.seed_of(held.args.get(held.api.seed)) if held.api.seed in held.args else "none"
        if seed is None:
            return None
        settings = ((k, self.heap.data(v).number) for k, v in held.args.items() if k != held.api.seed)
        return (held.api.name, tuple(sorted(settings)), seed)

    def p_draw(self, api: Api, args: Args, site: Site) -> Value:
        values = self.i.library.named(api, args)
        replacing = not self.i.library.is_false(values.get("replace"))
        results: list[Value] = []
        for value in args.pos or [v for k, v in values.items() if k in ("X", "y", "a", "population")]:
            data = self.heap.data(value)
            if data.kind == "index":
                results.append(self.i.positions.drawn(data, last_part(api.name), site, replacing=replacing))
                continue
            if not data.rows:
                continue
            if replacing and last_part(api.name) == "resample":
                draw = self.i.data.draw("resample", data, site)
                new = self.i.data.marked(data.but(number=self.heap.fresh()), frozenset({draw}))
                results.append(new.but(flags=new.flags | {"repeated"}))
            else:
                cut = self.i.data.cut(("draw", site, data.rows), CutKind.RANDOM, site, explicit=False)
                self.i.randomness.split(api, values, site, cut)
                results.append(self.i.data.narrowed(data, cut, 0))
        if not results:
            return Data(kind="index", number=self.heap.fresh(), flags=frozenset({"random"}))
        return results[0] if len(results) == 1 else Items(tuple(results))
