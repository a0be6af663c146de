"""What happens to rows while a program runs: immutable events, each with its place and the rows it touched."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from leakcheck.flow.rows import Arms, Cut, Numbered, Rows, Site

if TYPE_CHECKING:
    from leakcheck.flow.tables import Api
    from leakcheck.flow.values import Data

Column: TypeAlias = tuple[int, str]  # the frame a column was first seen in, and its name


@dataclass(frozen=True, eq=False, slots=True)
class Loop(Numbered):
    """A loop that was entered: `count` rounds where that is known; what it repeats over."""

    site: Site
    count: int | None
    over: str  # "folds", "seeds", "epochs", "thresholds", "configurations", "rounds", "items"
    turn: int | None = None  # of a loop whose rounds are run one by one: which round


@dataclass(frozen=True, eq=False, slots=True)
class Learn(Numbered):
    """Statistics computed from rows: a fit, a call that learns, plain arithmetic over all rows."""

    what: str  # as the code names it: "StandardScaler", "mean"
    category: str  # "scaling", "selection", ... see docs/library-tables.md
    rows: Rows
    site: Site
    supervised: bool
    columns: frozenset[Column]  # what it was computed from, where known
    fitted: bool  # by an object with fit, rather than by arithmetic
    loops: tuple[Loop, ...]
    name: str  # the rows, as the code names them
    marks: frozenset[Mark] = frozenset()  # what had been learned before in these rows
    by_name: bool = False  # what it learns is known only by the name of the object
    cut: Cut | None = None  # for bounds: the condition they went into
    item_of: int | None = None  # of one item of a list: the loop that met the items


@dataclass(frozen=True, eq=False, slots=True)
class Train(Numbered):
    """A predictor is fitted on rows."""

    model: int
    what: str
    rows: Rows
    site: Site
    x: Data | None
    y: Data | None
    loops: tuple[Loop, ...]
    born: tuple[Loop, ...]  # the loops in which the model was made
    kind: str  # "fit", "search", "fold", "loop"
    selects_columns: bool  # the learner picks its own columns, so stray ones do no harm
    baseline: bool
    seeds: frozenset[str]
    name: str
    held_out: tuple[Data, ...] = ()
    stops: bool = False
    predictor: Api | None = None  # what makes the predictions: the last step of a pipeline, what a search wraps


@dataclass(frozen=True, eq=False, slots=True)
class Predict(Numbered):
    """Predictions made from rows, by a model in the state that these trainings left."""

    model: int
    trains: tuple[Train, ...]
    rows: Rows
    site: Site
    marks: frozenset[Mark]
    name: str


@dataclass(frozen=True, eq=False, slots=True)
class Score(Numbered):
    """Predictions from rows reduced against their target."""

    what: str
    model: int | None
    trains: tuple[Train, ...]
    rows: Rows
    site: Site
    loops: tuple[Loop, ...]
    marks: frozenset[Mark]
    kind: str  # "score", "own" (worked out by the program itself), "loss", "curve", "fold", "validation"
    name: str
    baseline: bool = False
    relative: bool = False  # to a trivial prediction, as R2 is to the mean
    better: str = ""  # "higher" or "lower", where that is known of the metric


@dataclass(frozen=True, eq=False, slots=True)
class Choose(Numbered):
    """Something was kept because its score was best."""

    scores: tuple[Score, ...]
    site: Site
    how: str  # "comparison", "extremum", "search", "stopping", "threshold", "calibration"
    loops: tuple[Loop, ...]
    # Of stopping "on request" or "by default" of the library; of an extreme "of this round" where all that is compared
    # comes from the round of the loops around it.
    what: str


@dataclass(frozen=True, eq=False, slots=True)
class Split(Numbered):
    """Rows were cut apart to hold some out."""

    cut: Cut
    rows: Rows
    site: Site
    loops: tuple[Loop, ...]
    what: str
    data: tuple[Data, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Draw(Numbered):
    """Rows were repeated, drawn with replacement or made up from others."""

    what: str
    rows: Rows
    site: Site
    loops: tuple[Loop, ...]
    name: str


@dataclass(frozen=True, eq=False, slots=True)
class Pick(Numbered):
    """Some of the rows, of which is not known which: a window that moves with a loop, what one branch collects."""

    site: Site


class TieKind(Enum):
    """How a row is tied to other rows of its table."""

    EARLIER = "earlier"  # a lag, a trailing window
    LATER = "later"  # a negative shift, a centred or forward window
    FILLED = "filled"  # a gap filled from later rows
    WHOLE = "whole"  # smoothed or decomposed as a whole series
    WINDOW = "window"  # overlapping windows of rows
    INDEXED = "indexed"  # a table with time in its index
    SORTED = "sorted"  # a table in the order of time
    GROUPED = "grouped"  # a value of all rows of an entity


LOOKS_AHEAD = frozenset({TieKind.LATER, TieKind.FILLED, TieKind.WHOLE})


@dataclass(frozen=True, eq=False, slots=True)
class Tie(Numbered):
    """A value that is computed from other rows than its own, or rows that stand in the order of time."""

    what: str  # as the code names it: "shift(-1)", "rolling"
    kind: TieKind
    rows: Rows
    site: Site
    ahead: int | None = None  # how many rows it looks ahead, where that is known
    column: Column | None = None  # the column it was written to
    keys: tuple[str, ...] = ()  # the columns it is computed from, or by which rows are grouped
    whole: bool = False  # done to a whole table
    unsure: bool = False  # the direction is not known, but for a sign


@dataclass(frozen=True, eq=False, slots=True)
class Entities(Numbered):
    """The code names the column that tells which rows belong together, for a fold or a split."""

    rows: Rows
    site: Site
    name: str
    arms: Arms = ()  # the branches that lead to it


@dataclass(frozen=True, eq=False, slots=True)
class Random(Numbered):
    """Something was drawn at random, and the call that draws gets no seed."""

    what: str
    part: str  # "split", "draw" (positions or numbers that a split is made with), "sampler", "learner"
    parameter: str  # the one that takes a seed, "" where there is none
    generator: str  # the global generator that it draws from instead
    site: Site
    cut: Cut | None = None  # of a split
    key: str = ""  # of a draw: the flag of what was drawn
    mark: Mark | None = None  # of a sampler that was fitted by itself
    model: int | None = None  # of a learner, or of a sampler inside one


@dataclass(frozen=True, eq=False, slots=True)
class Meet(Numbered):
    """Scores of several models are shown side by side: in one list, dict, line of text or difference."""

    scores: tuple[tuple[Score, ...], ...]  # of each method
    site: Site
    adjacent: bool  # printed by statements that follow each other


Mark: TypeAlias = Learn | Predict | Score | Draw | Tie | Pick
Event: TypeAlias = Learn | Train | Predict | Score | Choose | Split | Draw | Tie | Pick | Entities | Random | Meet
