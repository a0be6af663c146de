"""What the code leg found out, for the rules to turn into findings."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from leakcheck.findings import Confidence, Location, TraceStep
from leakcheck.project.source import Problem


class Learned(Enum):
    """What crossed from held-out rows, by the harm it does."""

    STATISTICS = "statistics"  # scaling, imputation, projection, bounds ...
    FEATURES = "features"  # which features to use, chosen with the target
    ROWS = "rows"  # copies or blends of rows
    TARGET = "target"  # statistics of the target, by category
    VOCABULARY = "vocabulary"  # words, document frequencies, category codes


class HoldOut(Enum):
    """How the rows were held out."""

    SPLIT = "split"
    FOLDS = "folds"
    TEST_ONLY = "test only"  # learned from the held-out rows alone
    TOGETHER = "together"  # learned from train and test put together


class Choice(Enum):
    """What was chosen by its score on the test rows."""

    SETTING = "setting"
    STOPPING = "stopping"
    THRESHOLD = "threshold"
    SEED = "seed"


@dataclass(frozen=True, slots=True)
class LearnLeak:
    """Something learned from rows that are held out later reaches the model."""

    what: str  # as the code names it; what one line computes together
    learned: Learned
    hold_out: HoldOut
    supervised: bool
    rows: str  # what it was learned from
    held_out: str  # the held-out rows, in words
    honest_test: bool  # another, untouched test is scored in the end: only the choice inside is biased
    location: Location
    trace: tuple[TraceStep, ...]
    confidence: Confidence
    fitted: bool = True  # by an object with fit or a call that learns, rather than by arithmetic

    @property
    def learns(self) -> str:
        """Who learns and how: "StandardScaler is fitted", "mean and std are computed"."""
        if self.fitted:
            return f"{self.what} is fitted"
        return f"{self.what} {'are' if ' and ' in self.what else 'is'} computed"


@dataclass(frozen=True, slots=True)
class OverlapLeak:
    """A model is scored on rows it was trained on."""

    what: str
    rows: str
    scored: str
    location: Location
    trace: tuple[TraceStep, ...]
    confidence: Confidence


@dataclass(frozen=True, slots=True)
class TrainingScore:
    """The only score is that of the training rows."""

    what: str
    rows: str
    location: Location
    trace: tuple[TraceStep, ...]


@dataclass(frozen=True, slots=True)
class ChoiceLeak:
    """Something was chosen by comparing scores on the test rows."""

    choice: Choice
    rows: str
    location: Location
    trace: tuple[TraceStep, ...]
    confidence: Confidence
    folds_of: str = ""  # the rows, test rows among them, whose folds were compared instead
    each_fold: bool = False  # the rows are the held-out part of each fold


@dataclass(frozen=True, slots=True)
class TestReuse:
    """Several fitted configurations are scored on the same test rows."""

    configurations: int | None  # None: several, how many is not known
    side_by_side: bool  # in a loop, by one function, or one method in several settings
    rows: str
    location: Location
    trace: tuple[TraceStep, ...]
    confidence: Confidence


@dataclass(frozen=True, slots=True)
class TargetColumn:
    """The target, or a column made from it, is among the features."""

    target: str
    feature: str  # equal to `target` where the target itself is left in
    location: Location
    trace: tuple[TraceStep, ...]
    confidence: Confidence
    made_from_it: str = ""  # the column made from `target` that is predicted in its place


class Drawn(Enum):
    """What is drawn at random."""

    SPLIT = "split"
    SAMPLER = "sampler"  # rows made or dropped at random, random features
    LEARNER = "learner"


@dataclass(frozen=True, slots=True)
class Unseeded:
    """Something that a reported score hangs on is drawn at random without a seed."""

    what: tuple[str, ...]  # learners: all of the program
    drawn: Drawn
    parameter: str  # the one that takes the seed, "" where there is none
    generator: str  # the global generator that it draws from instead
    location: Location
    trace: tuple[TraceStep, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The scores of several methods stand side by side, each from one run."""

    methods: tuple[str, ...]
    rows: str
    location: Location
    trace: tuple[TraceStep, ...]
    confidence: Confidence


@dataclass(frozen=True, slots=True)
class Unanchored:
    """The last score on held-out rows of a program that has no trivial or classical one beside it."""

    what: str
    rows: str
    location: Location
    trace: tuple[TraceStep, ...]
    confidence: Confidence


@dataclass(frozen=True, slots=True)
class ReportedScore:
    """A file reports a score."""

    location: Location
    program: str  # the file that was followed
    runs: bool  # by running a file, rather than in a function that somebody may call


class Blind(Enum):
    """What a split of rows by chance pays no heed to."""

    TIME = "time"
    WINDOWS = "windows"
    ENTITIES = "entities"


@dataclass(frozen=True, slots=True)
class BlindSplit:
    """Rows that belong together, or follow each other, come to both sides of a split."""

    to: Blind
    what: str  # the splitter, as the code names it
    evidence: str  # what shows that the rows belong together, in words
    rows: str
    weak: bool  # the rows are in the order of time, and nothing else
    honest_test: bool  # rows held out otherwise are scored in the end
    location: Location
    trace: tuple[TraceStep, ...]
    confidence: Confidence


@dataclass(frozen=True, slots=True)
class LookAhead:
    """A feature is computed from later rows."""

    what: str  # as the code names it
    feature: str  # the column, where it is known
    train: str
    location: Location
    trace: tuple[TraceStep, ...]
    confidence: Confidence


class UnknownKind(Enum):
    """Why something was not followed."""

    CALLABLE = "callable"  # of a library that no table describes
    METHOD = "method"  # of data, that no table describes
    VALUE = "value"  # called, but what it holds is not known
    IMPORT = "import"  # of a project module or a name in it that isn't found
    LIMIT = "limit"  # cut short by a limit of work


@dataclass(frozen=True, slots=True)
class Unknown:
    """One thing that was not followed, with its places in the order in which they were met."""

    kind: UnknownKind
    name: str
    places: tuple[Location, ...]


@dataclass(frozen=True, slots=True)
class ProgramFacts:
    """All that the code leg knows of the files it was given."""

    learned: tuple[LearnLeak, ...] = ()
    overlaps: tuple[OverlapLeak, ...] = ()
    training_scores: tuple[TrainingScore, ...] = ()
    choices: tuple[ChoiceLeak, ...] = ()
    reuses: tuple[TestReuse, ...] = ()
    target_columns: tuple[TargetColumn, ...] = ()
    blind_splits: tuple[BlindSplit, ...] = ()
    look_aheads: tuple[LookAhead, ...] = ()
    unseeded: tuple[Unseeded, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    unanchored: tuple[Unanchored, ...] = ()
    scores: tuple[ReportedScore, ...] = ()
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    unknown: tuple[Unknown, ...] = ()
