"""Finds sentences that say, with a number, that one method beats another.

A sentence counts when it has a comparison between two things, a score or a share, and a number, and is neither about
speed or size, nor hedged, nor about other people's work. Everything else is left in peace: prose that only looks like a
claim is far more common than a claim.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from textwrap import dedent
from typing import TYPE_CHECKING

from leakcheck.claims.prose_facts import Comparison, ProseFacts, ProseKind
from leakcheck.findings import Location
from leakcheck.project.suppress import Comments, read_markdown_comments, without_fences

if TYPE_CHECKING:
    from leakcheck.claims.facts import Claim

_COMPARISON = re.compile(
    r"""\b(?:
      outperform(?:s|ed)? | outperforming | beat(?:s|en|ing)? | surpass(?:es|ed|ing)? | outscore[sd]?
      | (?:better|higher|lower|greater|more\ accurate|stronger|worse)\ (?:[\w-]+\ ){0,2}(?:\([^)]{1,40}\)\ )?than
      | (?:improve[sd]?|improving|improvement[s]?|gain[s]?|increase[sd]?|reduce[sd]?|reduction|boost(?:s|ed)?)\b
        [^.;]{0,150}?\b(?:over|upon|compared\ (?:to|with)|relative\ to|against|versus|vs\.?)
      | compared\ (?:to|with)\ [^,.;]{1,60},[^.;]{0,150}?\b(?:improves?|reduces?|gains?|increases?|raises?|lowers?)
      | (?:ahead\ of|compared\ (?:to|with)|versus|vs\.?|as\ opposed\ to|over)(?=\s+(?:the|our|a|an)?\s*[\w`*-]*\s*
        (?:baseline|baselines|model|method|approach|classifier|regressor|network|regression|forest|system|boosting)\b)
    )(?:\W|$)""",
    re.IGNORECASE | re.VERBOSE,
)
# What is compared with must be a thing: "higher than 0.5", "better than chance" and "lower than expected" are none.
_NO_METHOD = re.compile(
    r"^\W*(?:(?:the|a|an|about|around|of|at|least|roughly)\s+)*(?:[\d.$]|chance|random\s+guess|expected|expectation|usual|default"
    r"|average|zero|one|this|that(?!\s+of\b)|it|other\s+values|threshold|cutoff|before|ever|human)",
    re.IGNORECASE,
)
_METRIC = re.compile(
    r"\b(?:accuracy|accurate|precision|recall|f1|f-1|f-score|f-measure|auc|auroc|roc-auc|auprc|map|iou|dice|bleu|rouge\w*|meteor"
    r"|perplexity|wer|cer|rmse|mse|mae|mape|r2|r\^2|r-squared|log-?loss|loss|error(?:\s+rate)?|top-[15]|exact\s+match|em"
    r"|kappa|mcc|ndcg|mrr|psnr|ssim|fid|elo|win\s+rate|sharpe|reward|return|score[sd]?|performance)\b",
    re.IGNORECASE,
)
_POINTS = re.compile(r"\d[\s-]?(?:(?:absolute|percentage|percent|%)[\s-]+)*(?:points?|pp|pts?)\b", re.IGNORECASE)
NUMBER = re.compile(r"(?<![\w.@/-])[+-]?\d+(?:[.,]\d+)?(?:\s?%|\s?percent\b)?(?![\w/]|\.\d)")
_OTHER_SUBJECT = re.compile(
    r"\b(?:faster|slower|speed-?ups?|speed|latency|throughput|runtime|memory|ram|disk|gb|mb|seconds?|minutes?|hours?|ms|cost"
    r"|cheaper|price|smaller|larger|lines\s+of\s+code|version|python|install|download|stars?|users?|salary|population)\b",
    re.IGNORECASE,
)
_HEDGED = re.compile(
    r"^(?:set|use|choose|pick|try|make|keep|note)\b|\b(?:if|whether|would|could|should|might|may|can|suppose|assume|imagine|e\.g\.|for\s+example|for\s+instance|hypothetical"
    r"|not|never|no|cannot|unless|aim|goal|hope|expect|expected|todo|must|need|want|try|when|until|how)\b|n't\b|\?\s*$",
    re.IGNORECASE,
)
_OTHERS_WORK = re.compile(
    r"\bet\s+al\b|\[\d+\]|\((?:19|20)\d\d\)|\barxiv\b|\bpaper\b|\bthe\s+authors\b|\breported\s+(?:by|in)\b", re.I
)
# One of these stands in every comparison; looking for them costs little.
_STEMS = (
    "outperform", "beat", "surpass", "outscore", "better ", "higher ", "lower ", "greater ",
    "accurate than", "stronger ", "worse ", "improv", "gain", "increas", "reduc", "boost", "ahead of",
    "compared ", "versus", " vs", "opposed to", "baseline",
)  # fmt: skip
_SCORE_NEARBY = re.compile(r"\d\s?%|\d[.,]\d|\d\s+(?:percent|points?|pp|pts?)\b")
_NEARBY = 250  # characters, about two lines of prose on each side
_Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
_WHOLE_COMMENT = re.compile(r"<!--.*?-->")
_LONGEST = 600  # characters of a sentence; what is longer is data, not prose
_NOT_ABOUT_RESULTS = (
    "changelog",
    "changes",
    "history",
    "news",
    "contributing",
    "code_of_conduct",
    "security",
    "license",
)


@dataclass(frozen=True, slots=True)
class _Known:
    """The declared claims, and those whose text is the file at hand."""

    claims: tuple[Claim, ...]
    of_this_text: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    line: int
    end_line: int


def read_prose(files: Iterable[tuple[str, str, Path]], claims: Sequence[Claim] = ()) -> Iterator[ProseFacts]:
    """Comparisons in Markdown files, in notebooks' text cells and in docstrings.

    Parameters
    ----------
    files : iterable of (str, str, Path)
        Path inside the project, as claims name their text; as shown to people; and on disk. Files of other kinds, and
        those that cannot be read, are passed over: the code leg reports unreadable code.
    claims : sequence of Claim
        The declared claims.

    Yields
    ------
    ProseFacts
        One a file that holds a comparison, or a comment for leakcheck in its Markdown.
    """
    for inside, path, file in files:
        try:
            text = file.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError):
            continue
        facts = prose_facts(text, path, claims, inside)
        if facts.comparisons or facts.comments.suppressions or facts.comments.mistakes:
            yield facts


def prose_facts(text: str, path: str, claims: Sequence[Claim] = (), inside: str | None = None) -> ProseFacts:
    """Comparisons in the text of one file, by its suffix; `inside` is its path in the project, where that differs."""
    here = PurePosixPath(inside or path)
    texts = [claim for claim in claims if claim.text is not None and PurePosixPath(claim.text) == here]
    known = _Known(tuple(claims), tuple(texts))
    suffix = PurePosixPath(path).suffix.lower()
    comments = Comments()
    if suffix in (".md", ".markdown"):
        stem = PurePosixPath(path).stem.lower().replace("-", "_")
        found = [] if stem in _NOT_ABOUT_RESULTS else list(_of_markdown(text, path, ProseKind.MARKDOWN, known))
        comments = read_markdown_comments(path, text)
    elif suffix == ".ipynb":
        found = []
        for number, markdown in _text_cells(text):
            found += _of_markdown(markdown, path, ProseKind.NOTEBOOK, known, number)
            comments.add(read_markdown_comments(path, markdown, number))
    elif suffix == ".py":
        found = list(_of_docstrings(text, path, known))
    else:
        found = []
    return ProseFacts(path, tuple(found), comments)


def _of_markdown(
    text: str, path: str, kind: ProseKind, known: _Known, cell: int | None = None, first_line: int = 1
) -> Iterator[Comparison]:
    for sentence in _sentences(_paragraphs(text)):
        numbers = claimed_numbers(sentence.text)
        if numbers:
            line, end = sentence.line + first_line - 1, sentence.end_line + first_line - 1
            location = Location(path, cell, line, 1, end, 1)
            yield Comparison(location, kind, sentence.text, numbers, _covering(sentence.text, known))


def _text_cells(text: str) -> Iterator[tuple[int, str]]:
    """Number, counted from 1 over all cells, and Markdown of each text cell of a notebook."""
    try:
        cells = json.loads(text)["cells"]
        prose = [(n, cell["source"]) for n, cell in enumerate(cells, start=1) if cell.get("cell_type") == "markdown"]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return
    for number, source in prose:
        yield number, "".join(map(str, source)) if isinstance(source, list) else str(source)


def _of_docstrings(text: str, path: str, known: _Known) -> Iterator[Comparison]:
    if '"""' not in text and "'''" not in text:
        return
    if not _may_compare(text) or not _COMPARISON.search(text):  # most files end here, unparsed
        return
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    waiting: list[_Documented] = [tree]
    while waiting:
        node = waiting.pop()
        waiting += [inner for inner in node.body if isinstance(inner, _Documented)]
        docstring = node.body[0] if node.body else None
        value = docstring.value if isinstance(docstring, ast.Expr) else None
        if docstring is not None and isinstance(value, ast.Constant) and isinstance(value.value, str):
            # The first line has no indentation of its own; doctests are code.
            head, _, rest = value.value.partition("\n")
            prose = re.sub(r"(?m)^\s*(?:>>>|\.\.\.).*$", "", f"{head.strip()}\n{dedent(rest)}")
            yield from _of_markdown(prose, path, ProseKind.DOCSTRING, known, first_line=docstring.lineno)


def _may_compare(text: str) -> bool:
    """Whether a word of comparison stands near a score; a fraction of the cost of looking for sentences."""
    plain = text.lower()
    for stem in _STEMS:
        place = plain.find(stem)
        while place >= 0:
            if _SCORE_NEARBY.search(plain, max(0, place - _NEARBY), place + _NEARBY):
                return True
            place = plain.find(stem, place + _NEARBY)
    return False


def claimed_numbers(sentence: str) -> tuple[str, ...]:
    """The numbers of a sentence that claims a better score; empty for every other sentence."""
    compared = _COMPARISON.search(sentence) if len(sentence) <= _LONGEST else None
    if compared is None or _NO_METHOD.match(sentence[compared.end() :]):
        return ()
    if _HEDGED.search(sentence) or _OTHERS_WORK.search(sentence) or _OTHER_SUBJECT.search(sentence):
        return ()
    numbers = tuple(match[0].strip() for match in NUMBER.finditer(sentence))
    scores = [number for number in numbers if _is_score(number)]
    if not scores and not (numbers and _POINTS.search(sentence)):
        return ()
    if not _METRIC.search(sentence) and not _POINTS.search(sentence):
        return ()
    return numbers


def _is_score(number: str) -> bool:
    return number.endswith(("%", "percent")) or "." in number


def _covering(sentence: str, known: _Known) -> str | None:
    """The declared claim that a sentence states: both methods are named, or it stands in the claim's text."""
    plain = sentence.casefold()
    metrics = {match[0].casefold() for match in _METRIC.finditer(sentence)} - {"score", "scores", "performance"}
    for claim in known.claims:
        names_both = all(_names(name, plain) for name in (claim.a, claim.b))
        in_its_text = claim in known.of_this_text
        same_metric = claim.metric is None or not metrics or any(_same(metric, claim.metric) for metric in metrics)
        if names_both or (in_its_text and same_metric):
            return claim.id
    return None


def _same(word: str, metric: str) -> bool:
    """Whether a word of the text names the claim's metric: `error rate` and `error_rate`, `F1` and `macro F1`."""
    declared = metric.casefold().replace("_", " ")
    return word in declared or declared in word


def _names(name: str, plain: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name.casefold())}(?!\w)", plain) is not None


def _paragraphs(text: str) -> Iterator[tuple[int, list[str]]]:
    """First line and lines of each paragraph or list item; code, tables, quotes, headings and comments are left out."""
    paragraph: list[str] = []
    start, comment, front = 1, False, False
    for number, line in enumerate(without_fences(text), start=1):
        stripped = _WHOLE_COMMENT.sub("", line).strip()
        if number == 1 and stripped == "---":
            front = True
        elif front:
            front = stripped != "---"
            stripped = ""
        if "<!--" in stripped:
            comment = True
        skipped = (
            front
            or comment
            or not stripped
            or stripped[0] in "|>#<"
            or (line.startswith(("    ", "\t")) and not paragraph)
        )
        if "-->" in stripped:
            comment = False
        item = re.match(r"(?:[-*+]|\d+[.)])\s+", stripped)
        if skipped or item:
            if paragraph:
                yield start, paragraph
            paragraph = []
        if not skipped:
            if not paragraph:
                start = number
            paragraph.append(stripped[item.end() :] if item else stripped)
    if paragraph:
        yield start, paragraph


def _sentences(paragraphs: Iterable[tuple[int, list[str]]]) -> Iterator[_Sentence]:
    for start, lines in paragraphs:
        text = " ".join(lines)
        ends = [0]
        for line in lines:
            ends.append(ends[-1] + len(line) + 1)
        # A full stop inside a number or an abbreviation ends nothing.
        cuts = [
            match.end() for match in re.finditer(r"(?<!\bvs)(?<!e\.g)(?<!i\.e)(?<!\bal)[.!?](?=\s+[^a-z\s]|$)", text)
        ]
        begin = 0
        for cut in [*cuts, len(text)]:
            sentence = text[begin:cut].strip()
            if sentence:
                offset = begin + len(text[begin:cut]) - len(text[begin:cut].lstrip())
                first = sum(end <= offset for end in ends[1:])
                last = sum(end < cut for end in ends[1:])
                yield _Sentence(_without_markup(sentence), start + first, start + min(last, len(lines) - 1))
            begin = cut


def _without_markup(sentence: str) -> str:
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", sentence)
    text = re.sub(r"<[^>]+>|\$", "", text)
    return re.sub(r"\*\*|__|`|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)", "", text)
