"""Arithmetic, comparisons, conditions and statistics of data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leakcheck.flow import steps as s
from leakcheck.flow.events import Column, Mark, Predict, Tie, TieKind
from leakcheck.flow.operations.base import Operations
from leakcheck.flow.operations.common import (
    EXPRESSION,
    EXTREMA,
    ITEM_OF,
    ORDERINGS,
    RELATIONS,
    draw_flag,
    role_of_word,
    scores_of,
)
from leakcheck.flow.rows import NO_ROWS, Cut, CutKind, Rows, Site, narrow, other_side, union
from leakcheck.flow.values import (
    NO_MARKS,
    Const,
    Data,
    Items,
    ListObject,
    Value,
)

if TYPE_CHECKING:
    from leakcheck.flow.interpret import Args

_COMPARISONS = ORDERINGS | {"==", "!="}


class Operators(Operations):
    """Arithmetic, comparisons, conditions and statistics of data."""

    def operate(self, op: str, values: list[Value], node: s.Node) -> Value:
        several = [self.heap.data(value) for value in values]
        if len(several) == 1:
            return self._unary(op, several[0])
        rows = self._rows_of_all(several)
        marks: frozenset[Mark] = NO_MARKS.union(*(d.marks for d in several))
        number = self.heap.number(op, *(d.number for d in several))
        sources: frozenset[Column] = frozenset().union(*(d.sources for d in several))
        flags: frozenset[str] = frozenset().union(*(d.flags for d in several)) & {
            "random",
            "varies",
            "window",
            "record",
            "made",
            "lag",
            "lead",
            "own",
            "noise",
        }
        flags |= {flag for data in several for flag in data.flags if flag.startswith(ITEM_OF)}
        made = [bool(d.rows) and all(root.kind == "made" for root, _ in d.rows) for d in several]
        if any(made) and any(d.rows and not m for d, m in zip(several, made, strict=True)):
            flags |= {"noise"}
        if "lag" in flags and any(d.rows and d.sources and "lag" not in d.flags for d in several):
            flags |= {"own"}  # set against the row's own value
        if "random" in flags:
            flags |= {draw_flag(d.flags) for d in several} - {""}
        if op in ("/", "*", "-", "+", "//", "%", "**") and not rows:
            flags = flags | frozenset().union(*(d.flags for d in several)) & {"item"}
        if not rows and marks:
            flags |= _turned(op, several)
        name = next((d.name for d in several if d.rows and d.name), "")
        marks |= self.i.choices.scored(several, self.i.site(node))
        if self.i.scoring.several and not rows and (op == "-" or op in ORDERINGS):
            self.i.showing.meet(values, self.i.site(node))
        if op in _COMPARISONS or op in ("in", "not in", "is", "is not"):
            if op == "==" and not rows:
                self.i.choices.look_up(several, self.i.site(node))
            if op in ORDERINGS and not rows:
                flags |= {"compared"} if self.i.choices.same_scores(several) else set()
            mask = self._condition(op, several, values, self.i.site(node)) if rows or "random" in flags else ()
            return Data(
                rows=rows,
                marks=marks,
                kind="mask" if rows or mask else "scalar",
                number=number,
                sources=sources,
                flags=frozenset(flags),
                mask=mask,
                name=name,
            )
        if op in ("&", "|") and all(d.kind == "mask" for d in several):
            both = several[0].mask + several[1].mask if op == "&" and several[0].mask and several[1].mask else ()
            if op == "&" and len(both) < 2:
                both = ()
            return Data(
                rows=rows,
                marks=marks,
                kind="mask",
                number=number,
                sources=sources,
                flags=frozenset(flags),
                mask=both,
                name=name,
            )
        frame = next((d for d in several if d.kind == "frame"), None)
        if frame is not None:
            return self.i.data.marked(frame.but(number=number, each=(), mask=()), marks).but(rows=rows)
        carrier = next((d for d in several if d.rows), several[0])
        kind = "columns" if any(d.kind == "columns" for d in several) else "scalar"
        kind = carrier.kind if carrier.rows else kind
        if op == "-" and all(d.kind == "index" for d in several) and len(several) == 2:
            return self.i.positions.left(several[0], several[1], number)
        expression = next((d for d in several if d.kind == "expression"), None)
        if expression is not None and not rows:
            kind, name = "expression", expression.name
        kept = (flags | carrier.flags) - {"range"}
        return Data(
            rows=rows,
            marks=marks,
            kind=kind,
            number=number,
            sources=sources,
            flags=kept,
            name=name,
            keys=carrier.keys if carrier.kind in ("index", "index-item") else None,
        )

    def _rows_of_all(self, several: list[Data]) -> Rows:
        """The rows of all operands; random numbers added to data bring none of their own."""
        real = [d for d in several if d.rows and not all(root.kind == "made" for root, _ in d.rows)]
        return union(*(d.rows for d in real or several))

    def _unary(self, op: str, data: Data) -> Value:
        number = self.heap.number(op, data.number)
        if op in ("~", "not"):
            if len(data.mask) == 1:
                cut, kept, left = data.mask[0]
                return data.but(mask=((cut, left, kept),), number=number)
            if data.kind == "mask" or data.rows:
                cut = self.i.data.cut(
                    ("truth", data.number),
                    CutKind.RANDOM if "random" in data.flags else CutKind.MASK,
                    self.i.data.any_site(data),
                    drawn=draw_flag(data.flags),
                )
                return data.but(kind="mask", mask=((cut, False, True),), number=number)
            return data.but(number=number)
        flags = data.flags
        if op == "-" and not data.rows:
            flags ^= {"turned" if scores_of(data.marks) else "negated"}
        return data.but(number=number, each=(), mask=(), flags=flags)

    def rest(self, rows: Rows, taken: Rows) -> Rows:
        """The rows that a part leaves: the other side of its last cut."""
        result = rows
        for _, cuts in taken:
            if cuts:
                cut, part = cuts[-1]
                other = other_side(part)
                self.i.cuts_used.add((cut, other))
                result = narrow(result, cut, other)
        return result

    def _condition(
        self, op: str, several: list[Data], values: list[Value], site: Site
    ) -> tuple[tuple[Cut, object, object], ...]:
        """The cut that a comparison makes: `a < b` and `a >= b` are its two sides."""
        if len(several) != 2:
            return ()
        a, b = several
        random = "random" in a.flags or "random" in b.flags
        kind = CutKind.RANDOM if random else CutKind.MASK
        more = {"explicit": random, "drawn": draw_flag(a.flags | b.flags) if random else ""}
        if op in ORDERINGS:
            first, second, kept = {"<": (a, b, True), ">=": (a, b, False), ">": (b, a, True), "<=": (b, a, False)}[op]
            cut = self.i.data.cut(("less", first.number, second.number), kind, site, **more)
            return ((cut, kept, not kept),)
        if op in ("==", "!="):
            constant = self.heap.load(values[1])
            word: object = constant.value if isinstance(constant, Const) else ("value", b.number)
            if isinstance(word, bool):
                cut = self.i.data.cut(("truth", a.number), kind, site, **more)
                kept = word if op == "==" else not word
                return ((cut, kept, not kept),)
            found = self.i.combining.found(a, word)
            if found:
                if op == "==":
                    return found
                return ((found[0][0], found[0][2], found[0][1]),) if len(found) == 1 else ()
            cut = self.i.data.cut(("equal", a.number), kind, site, explicit=bool(role_of_word(word)))
            yes, no = ("is", word), ("not", ("is", word))
            return ((cut, yes, no),) if op == "==" else ((cut, no, yes),)
        return ()

    def statistic(self, name: str, data: Data, args: Args, site: Site, axis: Value | None = None) -> Value:
        """A number, or a few, computed from all rows."""
        number = self.heap.number(name, data.number, *(self.heap.data(v).number for v in args.all()))
        scores = scores_of(data.marks)
        if name in EXTREMA and scores and not data.rows:
            return self.i.choices.extremum(name, [data], site)
        if data.kind == "expression":
            column = frozenset({(EXPRESSION, data.name)}) if data.name else frozenset()
            learned = self.i.data.learn(name, "statistic", data, site, columns=column)
            return self.i.data.marked(data, frozenset({learned}))
        if not data.rows or data.kind in ("mask", "row", "index", "columns", "index-item"):
            return data.but(rows=NO_ROWS, kind="scalar", number=number, mask=(), each=(), keys=None)
        if "record" in data.flags or "window" in data.flags or self.across_columns(args, axis):
            if self.across_columns(args, axis):
                return data.but(number=number, kind="series", columns=None)
            if any(isinstance(m, Tie) and m.kind is TieKind.WINDOW for m in data.marks):
                # A value of one window: a row of what is made from the windows.
                return Data(rows=data.rows, kind="row", number=number, marks=data.marks)
            return Data(kind="scalar", number=number, marks=data.marks)
        if any(isinstance(m, Predict) for m in data.marks) or scores:
            return Data(kind="scalar", number=number, marks=data.marks)
        category = "relation" if name in RELATIONS else "statistic"
        if "group" in data.flags:
            # One group at a time, all groups in the end.
            category = "group-statistic"
            rows = (
                (root, tuple(step for step in steps if step[0] not in self.i.data.groups)) for root, steps in data.rows
            )
            data = data.but(rows=frozenset(rows))
        extra = [self.heap.data(v).sources for v in args.all()] if category == "relation" else []
        columns = self.i.data.columns_of(data).union(*extra)
        learned = self.i.data.learn(name, category, data, site, columns=columns, supervised=name == "corrwith")
        kind = "columns" if name in RELATIONS else "scalar"
        return Data(
            kind=kind,
            marks=frozenset({learned}),
            number=number,
            name=data.name,
            sources=data.sources if data.columns is None else frozenset(),
        )

    def across_columns(self, args: Args, axis: Value | None) -> bool:
        """Whether a reduction runs over the columns of each row, not over rows."""
        value = axis if axis is not None else args.kw.get("axis", args.kw.get("dim"))
        if value is None and args.pos:
            value = args.pos[0]
        held = self.heap.load(value) if value is not None else None
        if isinstance(held, Const):
            if isinstance(held.value, int) and not isinstance(held.value, bool):
                return held.value != 0
            return held.value in ("columns", "rows") and held.value == "columns"
        if isinstance(held, Items | ListObject) and held.items:
            inner = [self.heap.load(item) for item in held.items]
            if all(isinstance(h, Const) and isinstance(h.value, int) for h in inner):
                return 0 not in [h.value for h in inner]
        return False


def _turned(op: str, several: list[Data]) -> frozenset[str]:
    """That what was computed from a score falls where the score rises: one less the accuracy."""
    if (op in ("-", "/") and scores_of(several[-1].marks)) or any("turned" in data.flags for data in several):
        return frozenset({"turned"})
    return frozenset()
