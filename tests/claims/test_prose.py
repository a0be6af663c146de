"""Sentences that claim a better score, and the far more that only look like it."""

from __future__ import annotations

import json

import pytest

from leakcheck.claims.facts import Claim
from leakcheck.claims.prose import claimed_numbers, prose_facts
from leakcheck.claims.prose_facts import ProseKind
from leakcheck.findings import Location
from leakcheck.rules import rules

CLAIMS = [
    "Our model outperforms the baseline by 3.2 points of accuracy.",
    "XGBoost beats random forest (AUC 0.91 vs 0.89).",
    "It reaches an F1 of 0.91, which is 2% better than the logistic regression.",
    "Fine-tuning improves BLEU by 1.4 over the Transformer baseline.",
    "Compared to SVM, our classifier reduces the error from 12.1% to 9.8%.",
    "We gain +0.8 points compared to our previous model.",
    "The ensemble surpasses BERT with 93.1% accuracy.",
    "The fine-tuned model scored 81.2 F1, beating GPT-3.5 by 4.1 points.",
    "Random forest had a higher accuracy (0.93) than SVM (0.91).",
    "Its RMSE of 0.43 is lower than that of ARIMA.",
]
NO_CLAIMS = [
    "We reach 92% accuracy.",
    "It runs 2.5x faster than scikit-learn.",
    "Memory use is 40% lower than before.",
    "Requires Python 3.8 or a version higher than 3.7.",
    "The loss is lower than 0.5 after 10 epochs.",
    "A threshold higher than 0.5 gives better precision.",
    "An accuracy of 0.5 is no better than chance.",
    "Smith et al. report an F1 of 0.93, better than BERT.",
    "If the accuracy is 0.9 or better than the baseline, stop.",
    "Does it beat the baseline by 2 points of accuracy?",
    "Ours should outperform the baseline by 2 points of accuracy.",
    "A deeper network gets a higher accuracy than a shallow one.",
    "The learning rate 0.001 worked better than 0.01.",
    "Returns a score; values higher than 0.9 mean that the rows are the same.",
    "In 2023 the population of Berlin was 3.7 million, higher than Hamburg's.",
    "This is not better than the baseline: 0.81 accuracy against 0.82.",
    "Set the threshold to 0.7, which is better than the default of 0.5 for recall.",
    "A higher than average accuracy of 0.95 was recorded.",
    "The encode set includes code points from 0 to 31 and all points greater than 126.",
    "Figure 3.1 shows accuracy versus the number of trees.",
]


@pytest.mark.parametrize("sentence", CLAIMS)
def test_claim_is_seen(sentence: str) -> None:
    assert claimed_numbers(sentence)


@pytest.mark.parametrize("sentence", NO_CLAIMS)
def test_no_claim_is_left_in_peace(sentence: str) -> None:
    assert claimed_numbers(sentence) == ()


def test_place_in_markdown() -> None:
    text = "# Title\n\nSome words. Our model\noutperforms the baseline by 3.2 points of accuracy.\n"
    found = prose_facts(text, "README.md").comparisons
    assert [(one.kind, one.location.line, one.location.end_line) for one in found] == [(ProseKind.MARKDOWN, 3, 4)]


@pytest.mark.parametrize(
    "text",
    [
        "```\n{}\n```\n",
        "~~~text\n{}\n~~~\n",
        "> {}\n",
        "| {} |\n",
        "<!-- {} -->\n",
        "<!--\n{}\n-->\n",
        "---\ntitle: {}\n---\n",
        "    {}\n",
    ],
    ids=["fence", "tildes", "quote", "table", "comment", "long comment", "front matter", "indented code"],
)
def test_what_is_not_prose(text: str) -> None:
    assert prose_facts(text.replace("{}", CLAIMS[0]), "README.md").comparisons == ()


def test_changelog_is_left_out() -> None:
    assert prose_facts(CLAIMS[0], "CHANGELOG.md").comparisons == ()


def test_place_in_a_notebook() -> None:
    cells = [
        {"cell_type": "code", "source": "x = 1"},
        {"cell_type": "markdown", "source": ["# Results\n", "\n", CLAIMS[0]]},
    ]
    found = prose_facts(json.dumps({"cells": cells}), "work.ipynb").comparisons
    assert [(one.kind, one.location.cell, one.location.line) for one in found] == [(ProseKind.NOTEBOOK, 2, 3)]


def test_place_in_a_docstring() -> None:
    code = f'import os\n\n\ndef fit():\n    """Fit it.\n\n    {CLAIMS[0]}\n    """\n'
    found = prose_facts(code, "model.py").comparisons
    assert [(one.kind, one.location.line) for one in found] == [(ProseKind.DOCSTRING, 7)]


def test_strings_and_comments_are_no_docstrings() -> None:
    assert prose_facts(f'x = "{CLAIMS[0]}"\n# {CLAIMS[0]}\n', "model.py").comparisons == ()


@pytest.mark.parametrize("text", ["{", '{"cells": 3}', '{"cells": [null]}', "[]"])
def test_broken_notebook_is_passed_over(text: str) -> None:
    assert prose_facts(text, "work.ipynb").comparisons == ()


def claim(**settings: object) -> Claim:
    return Claim(
        id="c", a="baseline", b="our model", results_a=("r.csv",), location=Location("p", None, 1, 1, 1, 1), **settings
    )


def test_claim_that_names_both_methods_covers() -> None:
    assert prose_facts(CLAIMS[0], "docs/results.md", [claim()]).comparisons[0].covered_by == "c"


def test_claim_of_the_same_text_and_metric_covers() -> None:
    text = "It outperforms the old system by 3.2 points of accuracy."
    assert prose_facts(text, "README.md", [claim(text="README.md", metric="accuracy")]).comparisons[0].covered_by == "c"
    assert prose_facts(text, "README.md", [claim(text="README.md", metric="bleu")]).comparisons[0].covered_by is None
    assert prose_facts(text, "other.md", [claim(text="README.md", metric="accuracy")]).comparisons[0].covered_by is None


def test_rule_reports_what_no_claim_covers() -> None:
    rule = next(rule for rule in rules(("hygiene",)) if rule.code == "LK504")
    assert len(list(rule.check(prose_facts(CLAIMS[0], "README.md")))) == 1
    assert list(rule.check(prose_facts(CLAIMS[0], "README.md", [claim()]))) == []


def test_a_very_long_line_is_read_in_no_time() -> None:
    text = "improves the accuracy " * 40_000 + "0.5"
    assert prose_facts(text, "README.md").comparisons == ()
