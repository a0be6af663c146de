"""What every name and address holds, and how branches are run apart and joined again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any, TypeAlias

from leakcheck.flow.rows import split_within, union, within
from leakcheck.flow.values import (
    UNKNOWN,
    Choice,
    Columns,
    Const,
    Data,
    DictObject,
    HeapObject,
    Instance,
    Items,
    LibObject,
    ListObject,
    Method,
    Ref,
    Value,
)

Key: TypeAlias = int | tuple[int, str]  # an address, or a name in a frame
Changes: TypeAlias = dict[Key, Any]

_MISSING = object()
_MOST_OPTIONS = 8


class Heap:
    """A journalled store: writes made in a branch can be taken back and joined."""

    def __init__(self) -> None:
        self.cells: dict[Key, Any] = {}
        self._journal: dict[Key, Any] | None = None
        self._addresses = count(1)
        self._numbers = count(1)
        self._numbered: dict[tuple[Any, ...], int] = {}
        self._parts: dict[int, tuple[Any, ...]] = {}

    # --- reading and writing

    def get(self, key: Key) -> Any:
        return self.cells.get(key)

    def set(self, key: Key, value: Any) -> None:
        journal = self._journal
        if journal is not None and key not in journal:
            journal[key] = self.cells.get(key, _MISSING)
        self.cells[key] = value

    def delete(self, key: Key) -> None:
        if key in self.cells:
            if self._journal is not None and key not in self._journal:
                self._journal[key] = self.cells[key]
            del self.cells[key]

    def new(self, value: HeapObject) -> Ref:
        address = next(self._addresses)
        self.set(address, value)
        return Ref(address)

    def frame(self) -> int:
        return -next(self._addresses)

    def load(self, value: Value) -> Any:
        """What a reference points to; any other value itself."""
        return self.cells.get(value.address, UNKNOWN) if isinstance(value, Ref) else value

    # --- value numbers

    def fresh(self) -> int:
        return next(self._numbers)

    def number(self, *parts: Any) -> int:
        """The number of a value made from these parts: the same parts give the same number."""
        known = self._numbered.get(parts)
        if known is None:
            known = self._numbered[parts] = next(self._numbers)
            self._parts[known] = parts
        return known

    def parts(self, number: int) -> tuple[Any, ...]:
        """What a number was made from; nothing where it is of its own."""
        return self._parts.get(number, ())

    def made_from(self, number: int, source: int, depth: int = 0) -> bool:
        """Whether a value was worked out from another one."""
        parts = self._parts.get(number, ())
        return depth < 5 and any(n == source or self.made_from(n, source, depth + 1) for n in parts if type(n) is int)

    def origins(self, number: int, depth: int = 0) -> frozenset[int]:
        """The values of their own, constants not among them, that a value was worked out from."""
        parts = self._parts.get(number, ())
        if parts[:1] == ("const",) or depth > 5:
            return frozenset()
        made_of = [self.origins(part, depth + 1) for part in parts if type(part) is int]
        return frozenset().union(*made_of) if made_of else frozenset({number})

    # --- branches

    def attempt(self, run: Callable[[], Any]) -> tuple[Any, Changes]:
        """Run something, take its writes back and return them."""
        outer, self._journal = self._journal, {}
        try:
            result = run()
        finally:
            journal, self._journal = self._journal, outer
        changes: Changes = {}
        for key, old in journal.items():
            changes[key] = self.cells.get(key, _MISSING)
            if old is _MISSING:
                self.cells.pop(key, None)
            else:
                self.cells[key] = old
        return result, changes

    def apply(self, branches: list[Changes]) -> None:
        """Make the writes of several branches, joined where they differ."""
        keys = {key: None for changes in branches for key in changes}
        # What addresses hold comes first: joining the names that point to them looks at it.
        for key in sorted(keys, key=lambda key: isinstance(key, tuple)):
            old = self.cells.get(key, _MISSING)
            values = [changes.get(key, old) for changes in branches]
            present = [value for value in values if value is not _MISSING]
            if present:
                joined = present[0]
                for value in present[1:]:
                    joined = self._either(joined, value)
                self.set(key, joined)
            else:
                self.delete(key)

    # --- joining

    def _either(self, a: Any, b: Any) -> Any:
        """What holds after two branches: where only one of them split the rows, they count as split."""
        joined = self.join(a, b)
        one, other = self.load(a), self.load(b)
        if not (isinstance(joined, Data) and isinstance(one, Data) and isinstance(other, Data)):
            return joined
        for part, whole in ((one, other), (other, one)):
            if part.rows != whole.rows and within(part.rows, whole.rows) and split_within(part.rows, whole.rows):
                return joined.but(rows=part.rows, keys=part.keys)
        return joined

    def join(self, a: Any, b: Any) -> Any:
        if a is b:
            return a
        if type(a) is type(b):
            if isinstance(a, Data):
                return self.join_data(a, b)
            if isinstance(a, ListObject):
                return self._join_lists(a, b)
            if isinstance(a, DictObject):
                return self._join_dicts(a, b)
            if isinstance(a, Instance) and a.cls is b.cls:
                attrs = dict(a.attrs)
                for name, value in b.attrs.items():
                    attrs[name] = self.join(attrs[name], value) if name in attrs else value
                return replace(a, attrs=attrs, trains=_merge(a.trains, b.trains))
            if isinstance(a, LibObject) and a.api is b.api:
                return replace(
                    a,
                    args={**a.args, **b.args},
                    attrs={**a.attrs, **b.attrs},
                    trains=_merge(a.trains, b.trains),
                    learned=a.learned | b.learned,
                )
            if isinstance(a, Items) and len(a.items) == len(b.items):
                return Items(tuple(self.join(x, y) for x, y in zip(a.items, b.items, strict=True)), a.fields, a.cls)
            if a == b:
                return a
        return self._choose(a, b)

    def _choose(self, a: Any, b: Any) -> Any:
        options: list[Any] = []
        for value in (a, b):
            for option in value.options if isinstance(value, Choice) else (value,):
                if option not in options:
                    options.append(option)
        # Numbers and frames blend into one value, so that what either carries is kept.
        plain = [o for o in options if isinstance(self.load(o), Data | Const)]
        if len(plain) == len(options):
            if all(isinstance(o, Const) for o in options):
                return self.mixed(options)
            blended = self.data(options[0])
            for option in options[1:]:
                blended = self.join_data(blended, self.data(option))
            return blended
        others = [o for o in options if o not in plain or isinstance(self.load(o), Data)]
        others = [o for o in others if not (isinstance(o, Data) and not o.rows and not o.marks)] or others
        if len(others) == 1:
            return others[0]
        return Choice(tuple(others[:_MOST_OPTIONS]))

    def mixed(self, constants: list[Any]) -> Data:
        below = any(isinstance(c.value, int | float) and c.value < 0 for c in constants)
        return Data(kind="scalar", number=self.fresh(), flags=frozenset({"negative"}) if below else frozenset())

    def join_data(self, a: Data, b: Data) -> Data:
        if a == b:
            return a
        return Data(
            rows=union(a.rows, b.rows),
            marks=a.marks | b.marks,
            kind=a.kind if a.kind == b.kind or (not b.rows and not b.marks) else (b.kind if not a.rows else "unknown"),
            columns=self._join_columns(a.columns, b.columns),
            sources=a.sources | b.sources,
            number=a.number if a.number == b.number else self.fresh(),
            name=a.name or b.name,
            flags=a.flags | b.flags,
            mask=a.mask if a.mask == b.mask else (),
            keys=a.keys if a.keys == b.keys else None,
        )

    def _join_columns(self, a: Columns | None, b: Columns | None) -> Columns | None:
        if a is None or b is None or a.frame != b.frame:
            return a if a == b else None
        named = dict(a.named)
        for name, column in b.named.items():
            named[name] = self.join_data(named[name], column) if name in named else column
        dropped = (a.dropped & b.dropped) - named.keys()
        return Columns(a.frame, named, a.open or b.open, dropped, a.rest | b.rest, a.extra | b.extra)

    def _join_lists(self, a: ListObject, b: ListObject) -> ListObject:
        if a.items is not None and b.items is not None and len(a.items) == len(b.items):
            return ListObject(tuple(self.join(x, y) for x, y in zip(a.items, b.items, strict=True)))
        parts = [*(a.items or ()), *(b.items or ()), *(v for v in (a.any, b.any) if v is not None)]
        return ListObject(None, self.join_all(parts))

    def _join_dicts(self, a: DictObject, b: DictObject) -> DictObject:
        items = dict(a.items)
        for key, value in b.items.items():
            items[key] = self.join(items[key], value) if key in items else value
        return DictObject(items, self.join_all([v for v in (a.any, b.any) if v is not None]), a.default or b.default)

    def join_all(self, values: list[Any]) -> Any:
        if not values:
            return None
        joined = values[0]
        for value in values[1:]:
            joined = self.join(joined, value)
        return joined

    # --- seeing a value as rows

    def data(self, value: Value | None, depth: int = 0) -> Data:
        """Any value as rows and marks: a container as what its items carry together."""
        held = self.load(value) if value is not None else UNKNOWN
        if isinstance(held, Data):
            return held
        if isinstance(held, Const):
            return Data(kind="scalar", number=self.number("const", type(held.value).__name__, held.value))
        if depth > 7:
            return UNKNOWN
        if isinstance(held, Method):
            # A property named like a method, such as the mean of a predicted distribution; or the features or the
            # target of an object that is not known, which holds both.
            if held.function is not None:
                return UNKNOWN
            owner = self.data(held.owner, depth + 1)
            return owner.but(columns=None) if owner.kind == "unknown" else owner
        parts: list[Value] = []
        if isinstance(held, Items):
            parts = list(held.items)
        elif isinstance(held, ListObject):
            parts = list(held.items or ()) or ([held.any] if held.any is not None else [])
        elif isinstance(held, DictObject):
            parts = [*held.items.values(), *([held.any] if held.any is not None else [])]
        elif isinstance(held, Choice):
            parts = list(held.options)
        elif isinstance(held, LibObject):
            return Data(marks=held.learned, kind="object")
        if not parts:
            return UNKNOWN
        together = [self.data(part, depth + 1) for part in parts]
        named = not isinstance(held, ListObject) or held.items is not None
        sources = frozenset().union(*(d.sources for d in together))
        return Data(
            rows=union(*(d.rows for d in together)),
            marks=frozenset().union(*(d.marks for d in together)),
            kind=_kind_together(together),
            sources=sources,
            number=self.number("items", *(d.number for d in together)),
            # A list filled by a loop is not called what the loop calls its items.
            name=next((d.name for d in together if d.name), "") if named else "",
            flags=frozenset().union(*(d.flags for d in together)) & {"turned"},
        )


def _kind_together(parts: list[Data]) -> str:
    if not any(part.rows for part in parts):
        return "scalar"
    return "row" if any("within" in part.flags for part in parts) else "array"


def _merge(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    return a + tuple(x for x in b if x not in a)
