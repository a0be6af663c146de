"""Which rows two selections share, held against real sets of row numbers."""

import random

from hypothesis import given
from hypothesis import strategies as st

from leakcheck.flow.rows import (
    Cut,
    CutKind,
    Overlap,
    Root,
    Rows,
    Site,
    apply_steps,
    narrow,
    overlap,
    union,
    whole,
    within,
)

SITE = Site("example.py", None, (1, 1, 1, 2))
COUNT = 60


def a_cut(kind: CutKind, bound: int | None = None) -> Cut:
    return Cut(kind, SITE, roles=("train", "test"), bound=bound)


class World:
    """A table of `COUNT` rows and what some cuts really do to it."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.root = Root("table", SITE, "file")
        self.members: dict[tuple[Cut, object], set[int]] = {}

    def split(self) -> Cut:
        cut = a_cut(CutKind.RANDOM)
        rows = list(range(COUNT))
        self.random.shuffle(rows)
        half = self.random.randint(1, COUNT - 1)
        self.members[cut, 0], self.members[cut, 1] = set(rows[:half]), set(rows[half:])
        return cut

    def slice(self, bound: int) -> Cut:
        cut = a_cut(CutKind.POSITION, bound)
        self.members[cut, 0], self.members[cut, 1] = set(range(bound)), set(range(bound, COUNT))
        return cut

    def real(self, rows: Rows) -> set[int]:
        found: set[int] = set()
        for _, steps in rows:
            found |= set(range(COUNT)).intersection(*(self.members[step] for step in steps))
        return found


@given(st.integers(0, 10_000), st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1)), max_size=3), st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 1)), max_size=3
))  # fmt: skip
def test_rows_said_to_be_disjoint_share_none(
    seed: int, left: list[tuple[int, int]], right: list[tuple[int, int]]
) -> None:
    world = World(seed)
    cuts = [world.split(), world.split(), world.slice(20), world.slice(35)]
    a = b = whole(world.root)
    for number, part in left:
        a = narrow(a, cuts[number], part)
    for number, part in right:
        b = narrow(b, cuts[number], part)
    if overlap(a, b) is Overlap.NO:
        assert not world.real(a) & world.real(b)
    if within(a, b):
        assert world.real(a) <= world.real(b)


@given(st.integers(1, COUNT - 1), st.integers(1, COUNT - 1))
def test_slices_with_known_bounds_are_compared(first: int, second: int) -> None:
    world = World(0)
    head = narrow(whole(world.root), world.slice(first), 0)
    tail = narrow(whole(world.root), world.slice(second), 1)
    expected = Overlap.YES if world.real(head) & world.real(tail) else Overlap.NO
    assert overlap(head, tail) is expected


def test_slices_of_unknown_bounds_are_not_judged() -> None:
    root = whole(Root("table", SITE, "file"))
    head = narrow(root, a_cut(CutKind.POSITION), 0)
    tail = narrow(root, a_cut(CutKind.POSITION), 1)
    assert overlap(head, tail) is Overlap.UNKNOWN


def test_two_random_splits_of_the_same_rows_share_some() -> None:
    root = whole(Root("table", SITE, "file"))
    train = narrow(root, a_cut(CutKind.RANDOM), 0)
    other_test = narrow(root, a_cut(CutKind.RANDOM), 1)
    assert overlap(train, other_test) is Overlap.YES


def test_rows_of_two_files_share_none() -> None:
    assert overlap(whole(Root("a", SITE, "file")), whole(Root("b", SITE, "file"))) is Overlap.NO


def test_a_part_adds_nothing_to_the_whole() -> None:
    root = whole(Root("table", SITE, "file"))
    assert union(root, narrow(root, a_cut(CutKind.RANDOM), 1)) == root


def test_an_index_of_the_test_part_picks_the_test_part() -> None:
    table, labels = whole(Root("table", SITE, "file")), whole(Root("labels", SITE, "file"))
    cut = a_cut(CutKind.RANDOM)
    test = narrow(table, cut, 1)
    assert apply_steps(labels, test) == narrow(labels, cut, 1)
    assert overlap(apply_steps(table, test), narrow(table, cut, 0)) is Overlap.NO
