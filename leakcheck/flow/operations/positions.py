"""Positions of rows: in order, drawn at random, and those that a draw leaves."""

from __future__ import annotations

from collections.abc import Sequence

from leakcheck.flow import steps as s
from leakcheck.flow.events import TieKind
from leakcheck.flow.operations.base import Operations
from leakcheck.flow.rows import Cut, CutKind, Rows, Site, apply_steps, within
from leakcheck.flow.values import Const, Data, Value

# What positions keep when they are drawn or shuffled: that they stand apart, that they are values which differ.
LASTING = frozenset({"spaced", "distinct"})


class Positions(Operations):
    """Positions of rows, as arrays of whole numbers and as masks."""

    def index(self, site: Site, number: int, flags: frozenset[str] = frozenset()) -> Data:
        """Positions of rows: 0 to n - 1, in some order."""
        root = self.i.new_rows("positions", site, "positions", "index", key=number)
        return Data(kind="index", rows=root.rows, keys=root.rows, number=number, flags=flags)

    def first(self, index: Data, count: Value, site: Site) -> Data:
        """The first `count` positions, where the code counts them by a share or a number instead of by `len`."""
        bound = self.heap.data(count).number
        parts = self.heap.parts(bound)
        while parts[:1] == ("-",):
            bound = parts[1]
            parts = self.heap.parts(bound)
        counted = isinstance(self.heap.load(count), Const) or parts[:1] in (("int",), ("round",), ("*",), ("//",))
        return self._side(index, count, bound, 0, site) if counted else index

    def before(self, index: Data, end: Value, site: Site) -> Data:
        """The positions before `end`, where that is worked out from the number of rows."""
        number = self.heap.data(end).number
        worked_out = self.heap.parts(number)[:1] in (("int",), ("round",), ("*",), ("//",), ("-",))
        return self._side(index, end, number, 0, site) if worked_out else index

    def from_on(self, index: Data, start: Value, site: Site) -> Data:
        """The positions from `start` on."""
        return self._side(index, start, self.heap.data(start).number, 1, site)

    def _side(self, index: Data, bound: Value, number: int, part: int, site: Site) -> Data:
        held = self.heap.load(bound)
        known = float(held.value) if isinstance(held, Const) and isinstance(held.value, int) else None
        key = ("beyond", number)
        cut = self.i.data.cut(key, CutKind.POSITION, site, bound=known, explicit=False, shuffled=False)
        return self.i.data.narrowed(index, cut, part)

    def drawn(self, base: Data, what: str, site: Site, *, replacing: bool, key: str = "") -> Data:
        """Some of the positions or rows, drawn at random; the others are the other side of the same cut."""
        if not base.rows:
            base = self.index(site, self.heap.number("choice", site), base.flags & LASTING)
        apart = "group" if "distinct" in base.flags else ""
        identity = ("choice", site, base.rows)
        cut = self.i.data.cut(identity, CutKind.RANDOM, site, explicit=False, apart=apart, drawn=key)
        part = self.i.data.narrowed(base, cut, 0)
        part = part.but(flags=part.flags | {"shuffled", f"order:{part.number}"})
        if not replacing:
            return part
        draw = self.i.data.draw(f"{what} with replacement", part, site)
        return self.i.data.marked(part, frozenset({draw})).but(flags=part.flags | {"repeated"})

    def places(self, picker: Data) -> Data:
        """What picks rows, as positions: whole numbers made up at random are a draw of them."""
        made = picker.kind == "array" and picker.keys is None and not picker.mask and picker.rows
        if not made or not all(root.kind == "made" for root, _ in picker.rows):
            return picker
        site = self.i.data.any_site(picker)
        base = self.index(site, self.heap.number("places", picker.number))
        cut = self.i.data.cut(("places", picker.number), CutKind.RANDOM, site, explicit=False)
        return self.i.data.narrowed(base, cut, 0).but(name=picker.name)

    def at(self, data: Data, position: Data) -> Data:
        """The row of `data` at one of the positions that a loop meets: it belongs to the same part."""
        if not position.keys:
            return data
        self.i.cuts_used.update(step for _, steps in position.keys for step in steps)
        return data.but(rows=apply_steps(data.rows, position.keys))

    def passed(self, data: Data, counter: Data, site: Site) -> Data:
        """The rows that a counter passes: `for i in range(60, n_train): ... data[i - 60 : i]` stays before `n_train`.

        Only a place inside the rows cuts them, not their end, nor a start that leaves room for the first window.
        """
        for bound, part in zip(self.i.series.span(counter.number), (1, 0), strict=True):
            place = self.heap.data(bound)
            if bound is not None and self._inside(data, place.number):
                tables = self.i.combining.on_side(data, place, part)
                cut = self.i.data.cut_at(data, bound, site, unplaced=tables is None and len(data.rows) > 1)
                data = self.i.data.narrowed(data if tables is None else data.but(rows=tables), cut, part)
        return data

    def _inside(self, data: Data, bound: int, depth: int = 0) -> bool:
        counted = self.i.builtins.counted.get(bound)
        if counted is not None:
            same = {root for root, _ in counted} <= {root for root, _ in data.rows}
            return bool(counted) and same and not within(data.rows, counted)
        parts = self.heap.parts(bound)
        if parts[:1] in (("int",), ("round",)):
            return True
        sums = parts[:1] in (("+",), ("-",)) and depth < 4
        return sums and any(self._inside(data, part, depth + 1) for part in parts[1:])

    def near(self, data: Data, bounds: Sequence[Data], site: Site) -> Data | None:
        """`data[i - before : i + after]` around one of the positions that a loop meets.

        The windows around neighbouring positions overlap, unless the positions were spaced out.
        """
        position = next((b for b in bounds if b.kind == "index-item" and b.keys), None)
        if position is None:
            return None
        result = self.at(data, position)
        result = result.but(number=self.heap.fresh(), flags=result.flags | {"window"}, columns=None, each=())
        if len(bounds) < 2 or "spaced" in position.flags or self.i.series.width(*bounds) == 1:
            return result
        return self.i.series.tied(result, TieKind.WINDOW, "windows", site)

    def left(self, whole: Data, taken: Data, number: int) -> Data:
        """All but the positions that were taken."""
        taken = self.places(taken)
        keys = _keys(taken)
        if whole.rows and "repeated" in taken.flags and not any(steps for _, steps in keys - _keys(whole)):
            # What a draw with replacement from all leaves out.
            cut = self.i.data.cut(("left", number), CutKind.FILTER, self.i.data.any_site(whole), explicit=False)
            return self.i.data.narrowed(whole, cut, 0)
        if not whole.rows and keys:
            start = _uncut(keys)
            whole = Data(kind="index", rows=start, keys=start)
        rest = self.i.operators.rest(whole.rows, keys)
        keys_left = rest if whole.kind == "index" else whole.keys
        return whole.but(rows=rest, keys=keys_left, number=number, each=(), name="")

    def left_by(self, node: s.Comp) -> Data | None:
        """`[i for i in range(n) if i not in taken]`: all but the positions, or the names, that were taken."""
        part, element = node.loops[0], node.element
        if len(node.loops) != 1 or node.key is not None or len(part.tests) != 1:
            return None
        test = part.tests[0]
        if not isinstance(test, s.Op) or test.op != "not in" or not isinstance(part.target, s.Name):
            return None
        names = [n.id for n in (element, test.operands[0]) if isinstance(n, s.Name)]
        if names != [part.target.id, part.target.id]:
            return None
        taken = self.places(self.heap.data(self.i.eval(test.operands[1])))
        whole = self.heap.data(self.i.eval(part.iter))
        same = {root for root, _ in whole.rows} == {root for root, _ in taken.rows}
        if self.cut_of(taken) is None or not (same or whole.kind == "index" or "distinct" in whole.flags):
            return None
        return self.left(whole, taken, self.heap.number("left", whole.number, taken.number))

    def cut_of(self, taken: Data) -> tuple[Cut, object] | None:
        """The cut whose one side these positions are."""
        steps = [steps for _, steps in _keys(taken)]
        return steps[0][-1] if len(steps) == 1 and steps[0] else None

    def written(self, mask: Data, index: Data, value: Value) -> Data | None:
        """`mask[index] = True` in an array of equal truth values: the mask of these positions."""
        known = self.heap.load(value)
        step = self.cut_of(self.places(index))
        if mask.rows or mask.mask or step is None or not isinstance(known, Const) or known.value not in (0, 1):
            return None
        cut, part = step
        if part not in (0, 1):
            return None
        sides = (part, 0 if part else 1) if known.value else (0 if part else 1, part)
        return mask.but(
            kind="mask",
            rows=_uncut(_keys(self.places(index))),
            mask=((cut, *sides),),
            number=self.heap.number("written", mask.number, index.number),
        )


def _keys(index: Data) -> Rows:
    return index.keys if index.keys is not None else index.rows


def _uncut(rows: Rows) -> Rows:
    return frozenset((root, ()) for root, _ in rows)
