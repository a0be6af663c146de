"""Words, names and small questions that several of the modules beside share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leakcheck.flow import steps as s
from leakcheck.flow.events import Learn, Mark, Predict, Score
from leakcheck.flow.rows import CutKind, Rows, Site
from leakcheck.flow.tables import Api
from leakcheck.flow.values import (
    Value,
)

if TYPE_CHECKING:
    from leakcheck.flow.interpret import Args

ORDERINGS = frozenset({"<", ">", "<=", ">="})

# Statistics that shape the data they are mixed into; counts and sums of missing values are not among them.
STATISTICS = frozenset(
    [
        "mean",
        "median",
        "std",
        "var",
        "quantile",
        "percentile",
        "min",
        "max",
        "mode",
        "ptp",
        "average",
        "nanmean",
        "nanmedian",
        "nanstd",
        "nanvar",
        "nanpercentile",
        "nanquantile",
        "nanmin",
        "nanmax",
        "amin",
        "amax",
        "skew",
        "kurt",
        "mad",
        "describe",
        "corr",
        "cov",
        "corrwith",
        "corrcoef",
    ]
)

RELATIONS = frozenset({"corr", "cov", "corrwith", "corrcoef"})

ITEM_OF = "item of "  # begins the flag of an item of a list, with the loop that met it

EXPRESSION = -1  # stands for the frame of a column in an expression, until it is used on one

COPYING = "copying rows"  # what copies each row some times is called

BOUNDS = frozenset(
    [
        "mean",
        "median",
        "std",
        "var",
        "quantile",
        "percentile",
        "nanpercentile",
        "nanquantile",
        "describe",
        "mad",
        "iqr",
        "zscore",
    ]
)

EXTREMA = frozenset({"max", "min", "idxmax", "idxmin", "argmax", "argmin", "nlargest", "nsmallest"})

ROLE_WORDS = {
    "train": "train",
    "training": "train",
    "tr": "train",
    "trn": "train",
    "te": "test",
    "tst": "test",
    "unseen": "test",
    "heldout": "test",
    "va": "validation",
    "test": "test",
    "testing": "test",
    "holdout": "test",
    "val": "validation",
    "valid": "validation",
    "validation": "validation",
    "dev": "validation",
    "eval": "validation",
}

LEARNER_METHODS = frozenset(
    ["fit", "fit_transform", "transform", "predict", "predict_proba", "decision_function", "score", "evaluate"]
)

# Methods and functions that search settings with a function to be made small or large.
SEARCH_CALLS = frozenset(
    [
        "optimize",
        "fmin",
        "minimize",
        "maximize",
        "gp_minimize",
        "forest_minimize",
        "dummy_minimize",
        "differential_evolution",
    ]
)

PREDICTS = frozenset(
    [
        "predict",
        "predict_proba",
        "predict_log_proba",
        "decision_function",
        "predict_classes",
        "predict_on_batch",
        "predict_step",
        "score_samples",
        "inplace_predict",
        "staged_predict",
        "forward",
        "predict_generator",
    ]
)

SCORES = frozenset(["score", "evaluate", "evaluate_generator", "test", "test_on_batch"])

FITTED_CHOICES = frozenset(
    [
        "feature_importances_",
        "coef_",
        "support_",
        "ranking_",
        "scores_",
        "pvalues_",
        "get_support",
        "get_feature_names_out",
        "feature_importance",
        "get_score",
        "get_feature_importance",
        "k_feature_idx_",
        "k_feature_names_",
        "support_weak_",
        "feature_importance_",
        "best_features_",
        "pvalues",
        "params",
    ]
)

UNKNOWN_CLASS = Api("", "object", kind="unknown", fit=("fit",))


def role_of_word(word: object) -> str:
    """The role that a split's name says: "test" is the test part."""
    if not isinstance(word, str):
        return ""
    word = word.lower()
    # `dtest`, `xtrain`, `yva`: what it is, written in front without a break.
    short = "xy" if len(word) < 4 else "xyd"
    return ROLE_WORDS.get(word) or (ROLE_WORDS.get(word[1:], "") if word[:1] and word[0] in short else "")


@dataclass(slots=True, eq=False)
class Evaluated(s.Node):
    """An index whose value is known already."""

    value: Value


def dotted_name(node: s.Expr) -> str:
    """The name that an expression is, or calls; "" for any other."""
    if isinstance(node, s.Name):
        return node.id
    if isinstance(node, s.Attr):
        return f"{dotted_name(node.base)}.{node.name}"
    if isinstance(node, s.Call):
        return dotted_name(node.func)
    return ""


def arguments(*pos: Value, **kw: Value) -> Args:
    from leakcheck.flow.interpret import Args

    return Args(list(pos), dict(kw))


def no_args() -> Args:
    return arguments()


def kw_only(args: Args) -> Args:
    return arguments(**{k: v for k, v in args.kw.items() if k in ("axis", "dim")})


def node_at(site: Site) -> s.Node:
    return s.Node(site.span)


def scores_of(marks: frozenset[Mark]) -> frozenset[Mark]:
    return frozenset(m for m in marks if isinstance(m, Score | Predict))


def selecting(marks: Iterable[Mark]) -> frozenset[Mark]:
    """What tells how columns are related to the target, or to each other."""
    return frozenset(m for m in marks if isinstance(m, Learn) and m.category in ("selection", "relation"))


def split_words(name: str) -> list[str]:
    """The words of a name: `self.X_testSet` gives self, x, test, set; digits end a word."""
    words: list[str] = []
    current = ""
    for before, char in zip(" " + name, name, strict=False):
        if not char.isalpha():
            words.append(current)
            current = ""
        elif char.isupper() and before.islower():
            words.append(current)
            current = char.lower()
        else:
            current += char.lower()
    words.append(current)
    return [w for w in words if w]


def roles_in(name: str) -> set[str]:
    """The roles that the words of a name say."""
    return {role_of_word(word) for word in split_words(name)} - {""}


def draw_flag(flags: frozenset[str]) -> str:
    """The flag of the random order, or of the random numbers, behind a value; "" where there is none."""
    return min((flag for flag in flags if flag.startswith(("order:", "drawn:"))), default="")


def hashable(value: object) -> bool:
    return isinstance(value, str | int | float | bool | bytes | type(None) | complex)


def bare_roots(rows: Rows) -> object:
    """What a slice is a slice of: its rows less the slices already taken (bounds count from the same start)."""
    return frozenset(
        (id(root), tuple((id(cut), part) for cut, part in steps if cut.kind is not CutKind.POSITION))
        for root, steps in rows
    )


def order_of(flags: frozenset[str]) -> str:
    """By which shuffle rows stand where they stand: positions of two orders name different rows."""
    named = (flag for flag in flags if flag.startswith("order:"))
    return min(named, default="shuffled" if "shuffled" in flags else "")


def last_part(name: str) -> str:
    return name.rsplit(".", 1)[-1]


def words_of(text: str) -> list[str]:
    return [w for w in "".join(c if c.isalpha() else " " for c in text.lower()).split() if w]
