"""Where rows come from, and whether two sets of rows share any.

Rows are a set of *atoms*. An atom starts at a root (a file read, a loader, a parameter) and is narrowed by steps, each
one part of a cut: the test part of a split, one side of a slice, one fold. Siblings of a cut are disjoint.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from itertools import count, takewhile
from typing import NamedTuple, TypeAlias

from leakcheck.flow.steps import Span


class Site(NamedTuple):
    """A place in the analysed program, and the call that led into the function it stands in."""

    path: str
    cell: int | None
    span: Span
    caller: Site | None = None

    def bare(self) -> Site:
        return Site(self.path, self.cell, self.span) if self.caller else self


class Overlap(Enum):
    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


class CutKind(Enum):
    """How rows were cut apart; it decides what is known about rows of two different cuts."""

    RANDOM = "random"  # train_test_split, sample, random_split, a shuffled index
    FOLD = "fold"  # KFold and its family, cross_val_*, searches
    POSITION = "position"  # slices
    MASK = "mask"  # a condition on the rows
    FILTER = "filter"  # dropna, drop_duplicates, head: some rows less, nothing held out
    VALIDATION = "validation"  # validation_split of a training call


_serials = count()


def begin_program() -> None:
    """Number what is made from now on from the start: equal programs are followed in equal order."""
    global _serials
    _serials = count()


@dataclass(frozen=True, eq=False, slots=True)
class Numbered:
    """A thing that is equal to itself only; sets of such things have an order that doesn't change between runs.

    An address as the hash would make what is shown (which of two trainings, say) a matter of chance.
    """

    serial: int = field(default_factory=lambda: next(_serials), init=False, repr=False)

    def __hash__(self) -> int:
        return self.serial


@dataclass(frozen=True, eq=False, slots=True)
class Root(Numbered):
    """Where rows enter the program."""

    name: str
    site: Site
    kind: str  # "file", "loader", "parameter", "made", "unknown"
    role: str = ""  # "train", "test" or "validation" where the source itself says so


Arms: TypeAlias = tuple[tuple[int, int], ...]  # the branches around a place: which fork, and which of its arms


def never_both(arms: Arms, others: Arms) -> bool:
    """Whether two places are never both reached: they stand in two arms of one fork."""
    return any(fork == at and arm != way for fork, arm in arms for at, way in others)


@dataclass(frozen=True, eq=False, slots=True)
class Cut(Numbered):
    """One act of cutting rows apart; its parts are disjoint."""

    kind: CutKind
    site: Site
    roles: tuple[str, ...] = ()  # by part: "train", "test", "validation" or ""
    bound: float | None = None  # the number at which a slice cuts, where it is known
    share: float | None = None  # the share of rows in part 1, where it is known
    loops: tuple[int, ...] = ()  # the loops in which the cut is made anew
    explicit: bool = True  # made by a splitter, not by slicing or a condition
    shuffled: bool = False  # rows come to its parts at random
    order: str = ""  # of a slice: the shuffled order in which its bound counts
    apart: str = ""  # what keeps rows together or in order: "group", "time", "predefined"
    unplaced: bool = False  # of tables that stand under each other: which of them it goes through is not known
    drawn: str = ""  # the flag of the random order, or of the random numbers, that it was made with
    arms: Arms = ()  # the branches that lead to it
    inner: bool = False  # made by the `fit` of a class in the rows that it was given to learn from

    def role(self, part: object) -> str:
        return self.roles[part] if isinstance(part, int) and part < len(self.roles) else ""


Part: TypeAlias = tuple[Cut, object]


class _Part(tuple[Cut, object]):
    """A part of a cut, with a hash that doesn't change between runs as that of a text does."""

    __slots__ = ()

    def __hash__(self) -> int:
        part = self[1]
        return hash((self[0].serial, part if isinstance(part, int) else 2))


Atom: TypeAlias = tuple[Root, tuple[Part, ...]]
Rows: TypeAlias = frozenset[Atom]

NO_ROWS: Rows = frozenset()
_MOST_ATOMS = 24


def whole(root: Root) -> Rows:
    return frozenset({(root, ())})


def union(*several: Rows) -> Rows:
    """All rows of all; an atom that another one holds adds nothing."""
    atoms: Rows = frozenset().union(*several)
    if len(atoms) < 2:
        return atoms
    kept = []
    for root, steps in atoms:
        if not any(r is root and len(s) < len(steps) and s == steps[: len(s)] for r, s in atoms):
            kept.append((root, steps))
    return frozenset(kept[:_MOST_ATOMS])


def narrow(rows: Rows, cut: Cut, part: object) -> Rows:
    """The part of the rows that lies on one side of a cut."""
    step = _Part((cut, part))
    narrowed: list[Atom] = []
    for root, steps in rows:
        if step in steps:
            narrowed.append((root, steps))
        elif not any(c is cut and disjoint_parts(p, part) for c, p in steps):
            narrowed.append((root, (*steps, step)))
    return frozenset(narrowed)


def disjoint_parts(a: object, b: object) -> bool:
    """Whether two parts of one cut share no row."""
    if a == b or (isinstance(a, tuple) and isinstance(b, tuple) and a[:1] == ("named",) and a[:2] == b[:2]):
        return False  # parts of one role, told apart by their names alone
    if isinstance(a, tuple) and a[:1] == ("not",):
        return bool(a[1] == b)
    if isinstance(b, tuple) and b[:1] == ("not",):
        return bool(b[1] == a)
    return True


def other_side(part: object) -> object:
    """What the other side of a cut is called."""
    if isinstance(part, bool):
        return not part
    return 1 - part if isinstance(part, int) and part in (0, 1) else ("not", part)


def apply_steps(rows: Rows, selector: Rows) -> Rows:
    """Rows picked by an index whose own rows were cut: the cuts of the index hold for what it picks."""
    if not selector or not rows:
        return rows
    picked: set[Atom] = set()
    for root, steps in rows:
        for _, more in selector:
            if any(c is d and disjoint_parts(p, q) for c, p in steps for d, q in more):
                continue
            picked.add((root, (*steps, *(step for step in more if step not in steps))))
    return frozenset(picked) if picked else rows


def overlap(a: Rows, b: Rows) -> Overlap:
    """Whether two sets of rows share any."""
    unknown = excluded = met = False
    for atom in a:
        for other in b:
            shared = _atoms_overlap(atom, other)
            if shared is Overlap.YES:
                return Overlap.YES
            unknown = unknown or shared is Overlap.UNKNOWN
            excluded, met = excluded or shared is None, met or shared is not None
    return Overlap.UNKNOWN if unknown or (excluded and not met) else Overlap.NO


def _atoms_overlap(a: Atom, b: Atom) -> Overlap | None:
    """The same for two atoms; None where one run of the program never has both."""
    if a[0] is not b[0]:
        return Overlap.NO
    steps, others = a[1], b[1]
    for cut, part in steps:
        for other_cut, other_part in others:
            if cut is other_cut:
                if disjoint_parts(part, other_part):
                    return Overlap.NO
            elif cut.arms and other_cut.arms and never_both(cut.arms, other_cut.arms):
                return None
    mine = [step for step in steps if step not in others and step[0].kind is not CutKind.FILTER]
    theirs = [step for step in others if step not in steps and step[0].kind is not CutKind.FILTER]
    if any(cut.unplaced for cut, _ in (*mine, *theirs)):
        return Overlap.UNKNOWN
    if not mine or not theirs:
        return Overlap.YES
    sliced = mine[0][0].kind is theirs[0][0].kind is CutKind.POSITION
    if sliced:
        first = _positions_overlap(*(list(takewhile(_is_slice, steps)) for steps in (mine, theirs)))
        if first is not Overlap.YES:
            return first  # whatever was drawn from the slices after
    kinds = {cut.kind for cut, _ in (*mine, *theirs)}
    if CutKind.MASK in kinds:
        # A condition picks from all of the population, and so does a random split of it.
        one, other = {cut.kind for cut, _ in mine}, {cut.kind for cut, _ in theirs}
        random = {CutKind.RANDOM, CutKind.FOLD}
        return Overlap.YES if one <= random or other <= random else Overlap.UNKNOWN
    orders = {cut.order for cut, _ in (*mine, *theirs)}
    if kinds == {CutKind.POSITION} or (len(orders) == 1 and "" not in orders):
        return _positions_overlap(mine, theirs)
    return Overlap.YES


def _is_slice(step: Part) -> bool:
    return step[0].kind is CutKind.POSITION


def _positions_overlap(mine: list[Part], theirs: list[Part]) -> Overlap:
    """Slices with known bounds are compared; bounds of different sign or unknown ones are not."""
    lower, upper = float("-inf"), float("inf")
    signs = set()
    for cut, part in (*mine, *theirs):
        if cut.bound is None:
            return Overlap.UNKNOWN
        signs.add(cut.bound < 0)
        if part == 0:
            upper = min(upper, cut.bound)
        else:
            lower = max(lower, cut.bound)
    if len(signs) > 1:
        return Overlap.UNKNOWN
    return Overlap.YES if lower < upper else Overlap.NO


def within(inner: Rows, outer: Rows) -> bool:
    """Whether every atom of `inner` is (part of) an atom of `outer`."""
    return bool(inner) and all(
        any(root is other and set(steps) >= set(more) for other, more in outer) for root, steps in inner
    )


def split_within(inner: Rows, outer: Rows) -> bool:
    """Whether a split stands among the cuts that `inner` has and `outer` hasn't."""
    known = {cut for _, steps in outer for cut, _ in steps}
    return any(cut.explicit and cut not in known for _, steps in inner for cut, _ in steps)


def roles(rows: Rows) -> frozenset[str]:
    """What the splitters say these rows are for: the role of the last cut that gives one, for each atom."""
    found = set()
    for root, steps in rows:
        role = root.role
        for cut, part in steps:
            role = cut.role(part) or role
        found.add(role)
    return frozenset(found)


def last_cut(rows: Rows) -> Cut | None:
    """The last cut of the first atom that was cut at all."""
    return next((steps[-1][0] for _, steps in rows if steps), None)
