"""Abstract values: what a name can hold while a program is interpreted.

Values are immutable. What programs change in place (frames, lists, dicts, objects) lives in the heap, and a `Ref`
points to it; `leakcheck.flow.heap` keeps what each address holds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from leakcheck.flow.events import Column, Loop, Mark, Train
from leakcheck.flow.rows import NO_ROWS, Cut, Rows, Site
from leakcheck.flow.steps import Block, Param, Stmt

if TYPE_CHECKING:
    from leakcheck.flow.tables import Api

NO_MARKS: frozenset[Mark] = frozenset()


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a frame, as far as they are known.

    `named` holds the columns that were assigned or picked by name, each with its value; an `open` frame also has the
    unnamed columns of frame `frame` but for those `dropped`.
    """

    frame: int
    named: dict[str, Data] = field(default_factory=dict)
    open: bool = True
    dropped: frozenset[str] = frozenset()
    rest: frozenset[Mark] = NO_MARKS  # marks of the unnamed columns
    extra: frozenset[Mark] = NO_MARKS  # marks of columns that were joined on and whose names are not known

    def marks(self) -> frozenset[Mark]:
        own = self.rest | self.extra if self.open else self.extra
        return own.union(*(column.marks for column in self.named.values()))

    def has(self, name: str) -> bool | None:
        if name in self.named:
            return True
        if name in self.dropped or not self.open:
            return False
        return None


@dataclass(slots=True, unsafe_hash=True)
class Data:
    """Rows, or something computed from rows: a frame, an array, a mask, an index, a number.

    Immutable as the others; only not declared so, since a frozen one takes three times as long to make.
    """

    rows: Rows = NO_ROWS
    marks: frozenset[Mark] = NO_MARKS
    kind: str = "unknown"
    columns: Columns | None = None
    sources: frozenset[Column] = frozenset()
    number: int = 0  # value number: equal numbers are equal values
    name: str = ""
    flags: frozenset[str] = frozenset()
    mask: tuple[tuple[Cut, object, object], ...] = ()  # conditions that all hold: the cut, the part kept, the part left
    each: tuple[Value, ...] = ()  # the arguments of an unknown call, for unpacking its result one to one
    keys: Rows | None = None  # of a column of labels, an index: the rows it names
    made_at: Site | None = None  # of a column: where it was assigned

    def but(self, **changes: Any) -> Data:
        """This value with some fields changed; written out because it is called more than anything else."""
        new = Data(
            self.rows,
            self.marks,
            self.kind,
            self.columns,
            self.sources,
            self.number,
            self.name,
            self.flags,
            self.mask,
            self.each,
            self.keys,
            self.made_at,
        )
        for name, value in changes.items():
            setattr(new, name, value)
        return new


@dataclass(frozen=True, slots=True)
class Const:
    value: Any


@dataclass(frozen=True, slots=True)
class Items:
    """A tuple (or any sequence that is not changed in place) whose items are known."""

    items: tuple[Value, ...]
    fields: tuple[str, ...] = ()  # of a NamedTuple
    cls: object = None


@dataclass(frozen=True, slots=True)
class Ref:
    address: int


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several values: what branches or loops joined."""

    options: tuple[Value, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Unit:
    """A module being interpreted: its names are those of its global frame."""

    name: str
    path: str
    frame: int
    given: bool
    names_library: bool = True  # whether its text imports a library of the tables


@dataclass(frozen=True, eq=False, slots=True)
class Function:
    name: str
    params: tuple[Param, ...]
    body: Block
    unit: Unit
    cell: int | None
    frame: int  # the frame it was defined in
    defaults: tuple[tuple[str, Value], ...]
    is_generator: bool
    decorators: tuple[str, ...]
    node: Stmt | None
    cls: Class | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Class:
    name: str
    unit: Unit
    bases: tuple[Value, ...]
    frame: int  # its namespace
    fields: tuple[tuple[str, Value | None], ...]  # annotated fields in order, with their defaults
    kind: str  # "class", "namedtuple", "dataclass"
    site: Site


@dataclass(frozen=True, slots=True)
class Module:
    """A project module."""

    unit: Unit


@dataclass(frozen=True, slots=True)
class Lib:
    """A name of a library: a module, a class or a function, by its qualified name."""

    name: str


@dataclass(frozen=True, slots=True)
class Method:
    """A function bound to the object it was taken from."""

    owner: Value
    function: Function | None
    name: str


@dataclass(frozen=True, slots=True)
class Partial:
    function: Value
    args: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...]


Value: TypeAlias = Data | Const | Items | Ref | Choice | Function | Class | Module | Lib | Method | Partial

# --- what the heap holds -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ListObject:
    """A list (or set): its items where all are known, else what any item may be."""

    items: tuple[Value, ...] | None
    any: Value | None = None
    ranked: bool = False  # sorted: its first item is the best


@dataclass(frozen=True, slots=True)
class DictObject:
    """A dict: items by constant key, and what an item under any other key may be."""

    items: dict[Any, Value]
    any: Value | None = None
    default: Value | None = None


@dataclass(frozen=True, slots=True)
class Instance:
    """An object of a project class."""

    cls: Class
    attrs: dict[str, Value]
    trains: tuple[Train, ...] = ()
    born: tuple[Loop, ...] = ()
    site: Site | None = None


@dataclass(frozen=True, slots=True)
class LibObject:
    """An object of a library class."""

    api: Api
    args: dict[str, Value]
    parts: tuple[Value, ...]  # wrapped learners: a pipeline's steps, a search's estimator
    site: Site
    born: tuple[Loop, ...]
    attrs: dict[str, Value] = field(default_factory=dict)
    trains: tuple[Train, ...] = ()
    learned: frozenset[Mark] = NO_MARKS
    outside: bool = False  # made outside of what is analysed


HeapObject: TypeAlias = Data | ListObject | DictObject | Instance | LibObject

UNKNOWN = Data()
NONE = Const(None)
