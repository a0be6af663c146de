"""What draws at random without being given a seed, and which global generators the program seeds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from leakcheck.flow.events import Mark, Random
from leakcheck.flow.operations.base import Operations
from leakcheck.flow.operations.common import last_part, split_words
from leakcheck.flow.rows import Cut, Site
from leakcheck.flow.tables import Api
from leakcheck.flow.values import NONE, Choice, Const, Data, Instance, Lib, LibObject, Method, Value

if TYPE_CHECKING:
    from leakcheck.flow.interpret import Args, Interpreter

UNKNOWN_ARGUMENTS = "**"  # the key that stands for arguments which are not known
EVERY_GENERATOR = "*"
OWN_GENERATOR = "own"  # one that the program makes, from a seed, and draws from
_SEEDING_WORDS = frozenset({"seed", "seeds", "seeding", "determinism", "deterministic"})


class Randomness(Operations):
    """Draws without a seed."""

    def __init__(self, interpreter: Interpreter) -> None:
        super().__init__(interpreter)
        self.seeded: set[str] = set()  # the global generators that the program seeds
        self._seeds: dict[int, object] = {}  # by activation: the seed that was set in it last

    def seed(self, api: Api, values: list[Value]) -> None:
        """A global generator is seeded; without a value it is seeded anew by the clock."""
        if any(self.heap.load(value) != NONE for value in values):
            self.seeded.update(api.seeds or (self.i.tables.generator(api.name),))
            self._seeds[self.i.frame.id] = self.seed_of(values[0])

    def seed_by_name(self, name: str) -> None:
        """A function that is not known, named for seeding: it is taken to seed everything."""
        if not _SEEDING_WORDS.isdisjoint(split_words(name)):
            self.seeded.add(EVERY_GENERATOR)

    def made(self, values: list[Value]) -> None:
        """A generator of the program's own."""
        if any(self.heap.load(value) != NONE for value in values):
            self.seeded.add(OWN_GENERATOR)
            self._seeds[self.i.frame.id] = self.seed_of(values[0])

    def seed_of(self, value: Value | None) -> object:
        """What a seed is, so far as it can be told that two are the same; None where there is none to tell."""
        held = self.heap.load(value) if value is not None else NONE
        if isinstance(held, Const):
            return ("seed", held.value) if isinstance(held.value, int) else None
        if self.i.loops and isinstance(held, Data | Method | Lib):
            return ("seed of this round", self.i.data.loop_ids())
        if isinstance(held, Data):
            return ("seed", "number", held.number)
        if isinstance(held, Lib) and not held.name.startswith("numpy.random"):
            return ("seed", held.name)
        return ("seed", held.name) if isinstance(held, Method) else None

    def origin(self, site: Site, seed: object = None) -> object:
        """What decides what a draw gives: its seed, or one set before it in the same function; else its place.

        A function that splits by a seed of its own gives the same parts to each of its callers.
        """
        if seed is not None:
            return seed
        set_before = self._seeds.get(self.i.frame.id)
        return (site.bare(), set_before) if set_before is not None else site

    def unseeded(self, api: Api, values: Mapping[str, Value]) -> bool:
        """Whether a call that draws at random under these arguments is given no seed."""
        if not api.seed or UNKNOWN_ARGUMENTS in values:
            return False
        seed = values.get(api.seed)
        if seed is not None and self.heap.load(seed) != NONE:
            return False
        return not api.draws or any(self._holds(condition, values) for condition in api.draws)

    def _holds(self, condition: str, values: Mapping[str, Value]) -> bool:
        """Whether a condition of a table's `draws` holds: "a=b", "a!=b", or "a" where it is given at all."""
        name, differs, wanted = condition.partition("!=")
        if not differs:
            name, _, wanted = condition.partition("=")
        value = values.get(name)
        if value is None:
            return bool(differs)
        held = self.heap.load(value)
        if not isinstance(held, Const):
            return not wanted  # not known: only that it is given
        if not wanted:
            return held.value not in (None, False, 1.0)
        return (str(held.value) == wanted) is not bool(differs)

    def split(self, api: Api, values: Mapping[str, Value], site: Site, cut: Cut | None, key: str = "") -> None:
        """A call that divides rows, draws some of them, or (without a cut) puts them in a random order."""
        if self.unseeded(api, values):
            generator = self.i.tables.generator(api.name)
            part = "split" if cut is not None else "draw"
            self._emit(Random(last_part(api.name), part, api.seed, generator, site, cut=cut, key=key))

    def method(self, kind: str, name: str, args: Args, site: Site, cut: Cut | None, key: str = "") -> None:
        """The same by a method of a data value."""
        api = self.i.tables.method(kind, name)
        if api is not None:
            self.split(api, self.i.library.named(api, args), site, cut, key)

    def splitter(self, held: LibObject, cut: Cut) -> None:
        if self.unseeded(held.api, held.args):
            generator = self.i.tables.generator(held.api.name)
            self._emit(Random(last_part(held.api.name), "split", held.api.seed, generator, held.site, cut=cut))

    def drawn(self, name: str, site: Site, key: str, values: Mapping[str, Value]) -> str:
        """A function that draws from a global generator; the result is the flag of what it drew."""
        if not any(word in values for word in ("generator", "random_state", "seed")):
            generator = self.i.tables.generator(name)
            self._emit(Random(last_part(name), "draw", "", generator, site, key=key))
        return key

    def learned(self, held: LibObject, mark: Mark) -> None:
        """A transformer or resampler that was fitted."""
        for api, site in self._inside(held):
            generator = self.i.tables.generator(api.name)
            self._emit(Random(last_part(api.name), "sampler", api.seed, generator, site, mark=mark))

    def trained(self, held: Any, model: int) -> None:
        """A predictor that was trained, with all that it wraps."""
        for api, site in self._inside(held):
            name = held.cls.name if isinstance(held, Instance) else last_part(api.name)
            part = "sampler" if api.part == "resampler" else "learner"
            self._emit(Random(name, part, api.seed, self.i.tables.generator(api.name), site, model=model))

    def _inside(self, held: Any, depth: int = 0) -> Iterator[tuple[Api, Site]]:
        """What draws in a learner and gets no seed: itself, or what it wraps."""
        if isinstance(held, Instance):
            api = self.i.lib_base(held.cls)
            if api is not None and api.part == "network" and held.site is not None:
                yield api, held.site
            return
        if not isinstance(held, LibObject) or UNKNOWN_ARGUMENTS in held.args:
            return
        if held.api.part == "network":
            yield held.api, held.site
            return
        if self.unseeded(held.api, held.args):
            yield held.api, held.site
        elif held.api.seed in held.args and held.api.part == "estimator":
            return  # it seeds what it wraps
        if depth > 5 or any(key.endswith("__random_state") for key in held.args):
            return
        for part in held.parts:
            for option in part.options if isinstance(part, Choice) else (part,):
                yield from self._inside(self.heap.load(option), depth + 1)

    def _emit(self, event: Random) -> None:
        if event.generator:
            self.i.emit((event.site, event.what, event.cut, event.key, event.mark, event.model), event)
