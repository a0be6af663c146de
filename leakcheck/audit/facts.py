"""What the audit found out about the splits: plain values, no decisions. The rules decide."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from math import sqrt

from leakcheck.findings import Location, Within

BY_CHANCE = 0.01  # rows that coincide with at least this probability are no copies
NO_GAP = "0s"
Z_95 = 1.959963984540054  # the normal quantile of a two-sided 95 % interval


@dataclass(frozen=True, slots=True)
class Method:
    """How near pairs were found; the last fields are MinHash's."""

    name: str
    shingling: str
    threshold: float
    bands: int = 0
    rows: int = 0
    miss: float = 0.0
    seed: int = 0

    def __str__(self) -> str:
        text = f"{self.name} join, Jaccard similarity of {self.shingling} at or above {self.threshold:g}"
        if self.bands:
            text += (
                f", {self.bands} bands of {self.rows}, seed {self.seed}, candidates verified; "
                f"a pair at the threshold is missed with probability {self.miss:.2g}"
            )
        return text


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"[{self.low:.3f}, {self.high:.3f}]"


def wilson(hits: int, total: int) -> Interval:
    """Wilson's 95 % interval of a share (Wilson 1927).

    >>> print(wilson(5, 10))
    [0.237, 0.763]
    """
    if not total:
        return Interval(0.0, 1.0)
    share, z2 = hits / total, Z_95**2
    centre = (share + z2 / (2 * total)) / (1 + z2 / total)
    half = Z_95 * sqrt(share * (1 - share) / total + z2 / (4 * total**2)) / (1 + z2 / total)
    return Interval(max(0.0, centre - half), min(1.0, centre + half))


@dataclass(frozen=True, slots=True)
class Place:
    """A row of a file; rows count from 1, the header not among them."""

    path: str
    row: int

    @property
    def location(self) -> Location:
        return Location(self.path, None, self.row, 1, self.row, 1, Within.ROWS)

    def __str__(self) -> str:
        return f"{self.path} row {self.row}"


@dataclass(frozen=True, slots=True)
class Example:
    """One pair of rows, with what is alike where it may be shown."""

    first: Place
    second: Place
    similarity: float = 1.0
    first_text: str | None = None
    second_text: str | None = None
    first_key: str | None = None  # the row's identifiers
    second_key: str | None = None
    only_first: str | None = None  # the words of near texts that the other lacks
    only_second: str | None = None


class Kind(Enum):
    """What two rows have in common."""

    ROW = "row"
    TEXT = "text"
    BOILERPLATE = "boilerplate"
    NEAR_TEXT = "near text"
    NEAR_ROW = "near row"
    CONTAINED = "contained"
    ENTITY = "entity"


@dataclass(frozen=True, slots=True)
class Overlap:
    """Rows of one split (`held_out`) that another split (`training`) has too."""

    kind: Kind
    training: str
    held_out: str
    what: str  # the column or columns compared
    touched: int
    total: int
    method: str
    examples: tuple[Example, ...]
    expected: float = 0.0  # touched rows that chance alone gives for values this coarse
    chance: float = 0.0  # probability of so many by chance
    by_file: tuple[tuple[str, int], ...] = ()  # training file, touched rows it accounts for
    distinct: int = 0  # entities on both sides
    distinct_total: int = 0  # entities of the held-out side
    left_out: tuple[str, ...] = ()  # identifier columns that were not compared
    numbers_only: bool = False  # near texts that are equal but for their numbers

    @property
    def share(self) -> float:
        return self.touched / self.total if self.total else 0.0

    @property
    def interval(self) -> Interval:
        return wilson(self.touched, self.total)


@dataclass(frozen=True, slots=True)
class IdenticalFiles:
    """Two files with the same bytes (or one file given twice)."""

    training: Place
    held_out: Place
    same_path: bool


@dataclass(frozen=True, slots=True)
class LabelConflict:
    """Equal inputs with different labels."""

    what: str
    target: str
    groups: int
    rows: int
    examples: tuple[Example, ...]


@dataclass(frozen=True, slots=True)
class Repeats:
    """Rows that repeat an earlier one of the same split."""

    split: str
    what: str
    rows: int
    total: int
    chance: float
    examples: tuple[Example, ...]


@dataclass(frozen=True, slots=True)
class TimeOverlap:
    """Training rows dated at or after the first held-out row less the gap."""

    training: str
    held_out: str
    column: str
    touched: int
    total: int
    training_range: tuple[str, str]
    held_out_range: tuple[str, str]
    gap: str
    missing: int
    example: Example
    picture: tuple[str, str]


@dataclass(frozen=True, slots=True)
class EntityOrder:
    """Training rows dated at or after the first held-out row of their own entity less the gap."""

    training: str
    held_out: str
    column: str
    entity: str  # the column of the entities
    touched: int
    total: int
    entities: int  # that are out of order
    shared: int  # that have dated rows on both sides
    gap: str
    examples: tuple[Example, ...]  # the last training row and the first held-out row of each, worst first
    worst: str | None  # the first of the examples by its name
    picture: tuple[str, str]  # of the worst


@dataclass(frozen=True, slots=True)
class LateColumn:
    """A timestamp column later than the moment of prediction."""

    split: str
    column: str
    prediction_time: str
    touched: int
    total: int
    places: tuple[Place, ...]


class Carrier(Enum):
    """Where a score of the target comes from."""

    COLUMN = "column"
    ABSENCE = "absence"
    ORDER = "row order"
    IDENTIFIER = "identifier"
    FILE = "file"


@dataclass(frozen=True, slots=True)
class Score:
    """A cross-validated score, its interval, and what chance gives."""

    metric: str  # "AUC" or "R2"
    value: float
    interval: Interval
    chance: float

    def __str__(self) -> str:
        return f"{self.metric} {self.value:.3f} {self.interval} (chance {self.chance:g})"


@dataclass(frozen=True, slots=True)
class SingleScore:
    """How well one thing alone predicts the target; `others` is what all other columns together reach."""

    carrier: Carrier
    name: str
    score: Score
    others: Score | None
    one_to_one: bool
    place: Place
    looks: int  # how many were tried: the interval is widened for them


class Part(Enum):
    """What an ablated input keeps."""

    TEXT = "one text"
    TEXTS = "all texts"
    OTHERS = "all columns but the texts"
    REST = "all but one text"


@dataclass(frozen=True, slots=True)
class Ablation:
    """A model's score with only part of the input; `judged` where that part should not suffice."""

    part: Part
    kept: tuple[str, ...]
    removed: tuple[str, ...]
    judged: bool
    score: Score
    full: Score
    margin: float
    place: Place
    looks: int


@dataclass(frozen=True, slots=True)
class Distinguishable:
    """How well a model tells the rows of two splits apart."""

    training: str
    held_out: str
    score: Score
    margin: float
    columns: tuple[tuple[str, float], ...]
    place: Place
    sampled: int  # rows drawn from a split that has more; 0 where all were looked at

    @property
    def sample(self) -> str:
        return f" (on a sample of {self.sampled:,} rows of a split)" if self.sampled else ""


@dataclass(frozen=True, slots=True)
class AuditFacts:
    """All that one audit found out."""

    overlaps: tuple[Overlap, ...] = ()
    identical: tuple[IdenticalFiles, ...] = ()
    conflicts: tuple[LabelConflict, ...] = ()
    repeats: tuple[Repeats, ...] = ()
    times: tuple[TimeOverlap, ...] = ()
    orders: tuple[EntityOrder, ...] = ()
    late: tuple[LateColumn, ...] = ()
    singles: tuple[SingleScore, ...] = ()
    ablations: tuple[Ablation, ...] = ()
    distinguishable: tuple[Distinguishable, ...] = ()
    notes: tuple[str, ...] = field(default=())  # what was left out, and why
    checks: tuple[str, ...] = ()  # what was compared, and how
