"""The document as Markdown: a job summary, or a section of a data set or model card."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from leakcheck.report.document import Document
from leakcheck.report.text import count

_STATES = {"good": "OK", "warn": "Warning", "bad": "Not sound", "error": "Incomplete"}
_MARKS = {"done": "[x]", "failed": "[ ] **failed**", "no evidence": "[ ] no evidence"}
_MOST_FINDINGS = 50


def to_markdown(document: Document) -> str:
    """Render the verdict, the claims, the findings, the loop and what was checked."""
    lines = [*_head(document)]
    for claim in document["claims"]:
        lines += _claim(claim)
    if document["ranking"] is not None:
        lines += _ranking(document["ranking"])
    if document["ablation"] is not None:
        lines += _ablation(document["ablation"])
    if document["variance"]:
        lines += ["", "### Where the spread comes from", "", "| factor | sd | share |", "|---|---|---|"]
        lines += [
            f"| {_text(part['factor'])} | {part['variance'] ** 0.5:.3g} | {100 * part['share']:.0f} % |"
            for part in document["variance"]
        ]
    titles = {"claims": "Findings about the claims", "code": "Findings in the code", "data": "Findings in the data"}
    for leg, title in titles.items():
        lines += _findings(title, document["findings"][leg])
    lines += ["", "### The empirical loop", ""]
    for stage in document["loop"]:
        reason = f": {_text(stage['reason'])}" if stage["reason"] else ""
        lines.append(f"- {_MARKS[stage['state']]} {stage['name']}{reason}")
    lines += ["", "### What was checked", ""]
    checked = document["checked"]
    lines.append(f"- code: {'not looked at' if checked['files'] is None else count(checked['files'], 'file')}")
    names = ", ".join(data["id"] for data in checked["datasets"])
    lines.append(f"- data: {_text(names) or 'not looked at'}")
    lines.append(f"- claims: {_text(', '.join(checked['claims'])) or 'none'}")
    lines += [f"- {_text(name)}: {_text(value)}" for name, value in checked["parameters"].items()]
    used = checked["calculation"]
    if used is not None:
        lines.append(
            f"- intervals: {100 * used['level']:.4g} %, {checked['bootstrap']}, "
            f"quantiles by the {used['quantile_rule']}"
        )
    for data in checked["datasets"]:
        lines += _data(data)
    versions = used["versions"] if used is not None else {"leakcheck": document["tool"]["version"]}
    lines += ["", ", ".join(f"{name} {version}" for name, version in versions.items())]
    return "\n".join(lines) + "\n"


def _head(document: Document) -> Iterator[str]:
    verdict, counts = document["verdict"], document["counts"]
    yield f"## {_STATES[verdict['state']]}: {_text(verdict['headline'])}"
    yield ""
    yield _text(verdict["sentence"])
    yield ""
    yield ", ".join(count(counts[kind], kind) for kind in ("error", "warning", "note")) + "."
    for error in document["errors"]:
        yield f"- could not be done: {_text(error)}"


def _claim(claim: dict[str, Any]) -> Iterator[str]:
    name = f"{_text(claim['id'])}: " if claim["declared"] else ""
    comparison = f"{_text(claim['b'])} over {_text(claim['a'])}, {_text(claim['metric'])}"
    yield from ("", f"### {name}{comparison}: {claim['verdict']}", "")
    yield _text(claim["reason"])
    yield from ("", "| | |", "|---|---|")
    for line in claim["lines"]:
        yield f"| {_text(line['label'])} | {_text(line['value'])} |"
    yield ""
    for part in claim["missing_parts"]:
        yield f"- not said: {_text(part)}"
    for caveat in claim["caveats"]:
        yield f"- {_text(caveat)}"


def _ranking(ranking: dict[str, Any]) -> Iterator[str]:
    yield from ("", f"### Methods over {ranking['data_sets']} data sets", "", "| method | mean rank |", "|---|---|")
    ranks = zip(ranking["methods"], ranking["mean_ranks"], strict=True)
    for method, rank in sorted(ranks, key=lambda item: (item[1], item[0])):
        yield f"| {_text(method)} | {rank:.3g} |"
    yield ""
    yield f"Critical difference (Nemenyi, 0.05): {ranking['critical_difference']:.4g}."


def _ablation(ablation: dict[str, Any]) -> Iterator[str]:
    yield from ("", f"### Ablation of {_text(ablation['full'])}", "")
    yield from ("| without | difference | interval | Holm p | verdict |", "|---|---|---|---|---|")
    for row in ablation["knockouts"]:
        p = "none" if row["adjusted_p"] is None else f"{row['adjusted_p']:.3g}"
        cells = (f"{row['component']}={row['setting']}", row["difference"], row["interval"], p)
        yield f"| {' | '.join(map(_text, cells))} | {row['comparison']['verdict']} |"
    yield ""
    for row in ablation["interactions"]:
        yield f"- interaction of {_text(row['component'])}: {_text(row['difference'])} {_text(row['interval'])}"
    yield from (f"- not used: {_text(reason)}" for reason in ablation["unusable"])


def _findings(title: str, group: dict[str, Any]) -> Iterator[str]:
    if not group["total"]:
        return
    yield from ("", f"### {title} ({group['total']})", "")
    for finding in group["shown"][:_MOST_FINDINGS]:
        place = _text(finding["place"])
        yield f"- **{finding['code']}** {_text(finding['message'])} ({place}). {_text(finding['help'])}"
        examples = finding["evidence"]["examples"]
        for step in finding["path"] if examples is None else ():
            if (step["label"], step["place"]) != ("found here", finding["place"]):
                yield f"  - {_text(step['label'])}: {_text(step['place'])}"
        yield from _examples(examples)
    if group["total"] > _MOST_FINDINGS:
        yield f"- and {group['total'] - _MOST_FINDINGS} more"


def _examples(examples: dict[str, Any] | None) -> Iterator[str]:
    if examples is None:
        return
    yield from ("", "  | " + " | ".join(_text(column) for column in examples["columns"]) + " | similarity |")
    yield "  |---|---|---|"
    for pair in examples["pairs"]:
        sides = [
            _text(side["place"]) + (f": {_text(side['text'])}" if side["text"] is not None else "")
            for side in pair["sides"]
        ]
        yield f"  | {' | '.join(sides)} | {_text(pair['similarity'])} |"
    if examples["total"] > len(examples["pairs"]):
        yield f"\n  {len(examples['pairs'])} of {examples['total']} shown."
    yield ""


def _data(data: dict[str, Any]) -> Iterator[str]:
    yield from ("", f"#### Data set {_text(data['id'])}", "")
    yield from (f"- {_text(name)}: {_text(value)}" for name, value in data["parameters"].items())
    yield from (f"- compared: {_text(check)}" for check in data["checks"])
    yield from (f"- left out: {_text(note)}" for note in data["notes"])
    yield from ("", "| split | file | rows | SHA-256 |", "|---|---|---|---|")
    for split in data["splits"]:
        for file in split["files"] or [{"path": "in memory", "rows": split["rows"], "sha256": ""}]:
            yield f"| {_text(split['name'])} | {_text(file['path'])} | {file['rows']} | {file['sha256']} |"


def _text(value: Any) -> str:
    """One line in which no character has a meaning for Markdown or HTML."""
    from leakcheck.report.page import shown

    line = " ".join(shown(value).split())
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_\[\]|~#!])", r"\\\1", line)
