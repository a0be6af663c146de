"""The one document behind every report: what the three legs found, as plain JSON values.

Markdown and HTML are rendered from it and add nothing. The same results give the same document.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from leakcheck import __version__
from leakcheck.findings import Finding, Location, Severity
from leakcheck.report.evidence import cell, evidence_record
from leakcheck.report.json import finding_record
from leakcheck.report.loop import chances_survived, empirical_loop

if TYPE_CHECKING:
    from leakcheck.audit.declared import AuditedData
    from leakcheck.claims.ablation import Ablation
    from leakcheck.claims.facts import ClaimFacts
    from leakcheck.claims.ranking import Ranking
    from leakcheck.claims.summary import Settings
    from leakcheck.claims.variance import Component

Document = dict[str, Any]
LineOf = Callable[[Location], str | None]

DOCUMENT_VERSION = 1
ALPHA = 0.05  # of an ablation's table, as of every family of claims
MOST_FINDINGS = 200  # of each leg
_MOST_IN_HEAD = 180  # characters of a message on the first screen


def build(
    *,
    findings: Sequence[Finding] = (),
    claims: Sequence[ClaimFacts] = (),
    settings: Settings | None = None,
    ranking: Ranking | None = None,
    ablation: Ablation | None = None,
    variance: Sequence[Component] = (),
    errors: Sequence[str] = (),
    files: int | None = None,
    datasets: Sequence[AuditedData] = (),
    parameters: Mapping[str, Any] | None = None,
    line_of: LineOf | None = None,
    title: str = "Can the score be believed?",
) -> Document:
    """Put the results of a run into one document.

    Parameters
    ----------
    findings : sequence of Finding
        Of all legs; suppressed ones are counted, not shown.
    claims : sequence of ClaimFacts
        Declared claims, or the comparison of the command.
    settings : Settings, optional
        With which the claims were computed.
    ranking : Ranking, optional
        Of several methods over several data sets.
    ablation : Ablation, optional
        A table of what each component adds.
    variance : sequence of Component
        Where the spread of the runs comes from.
    errors : sequence of str
        What could not be done.
    files : int, optional
        Code files that were looked at; None where no code was.
    datasets : sequence of AuditedData
        The data sets that were audited.
    parameters : mapping, optional
        Further parameters of the run, for the last section.
    line_of : callable, optional
        Source line at a place, for showing the path of a code finding.
    title : str
        Heading of the page.
    """
    shown = sorted((finding for finding in findings if finding.suppressed is None), key=Finding.sort_key)
    of_claims = [finding for finding in shown if finding.code.startswith("LK8")]
    of_data = [finding for finding in shown if finding.code.startswith(("LK6", "LK7"))]
    of_code = [finding for finding in shown if finding not in of_claims and finding not in of_data]
    records = [_claim_record(facts, settings) for facts in claims]
    table = None if ablation is None else _ablation_record(ablation, settings)
    comparisons = [*records, *(row["comparison"] for row in (table or {}).get("knockouts", ()))]
    loop = empirical_loop(shown, claims, files=files, datasets=[one.id for one in datasets], ablation=ablation)
    return {
        "version": DOCUMENT_VERSION,
        "tool": {"name": "leakcheck", "version": __version__},
        "title": title,
        "verdict": _verdict(shown, claims, errors, files is not None, bool(datasets), ablation),
        "counts": {severity.value: sum(found.severity is severity for found in shown) for severity in Severity}
        | {"suppressed": len(findings) - len(shown)},
        "claims": records,
        "ranking": None
        if ranking is None
        else {**asdict(ranking), "groups": [list(group) for group in ranking.groups]},
        "ablation": table,
        "variance": [asdict(part) for part in variance],
        "findings": {
            "claims": _capped(of_claims, None),
            "code": _capped(of_code, line_of),
            "data": _capped(of_data, None),
        },
        "loop": loop,
        "chances": chances_survived(loop),
        "checked": {
            "files": files,
            "datasets": [_data_record(one) for one in datasets],
            "claims": [facts.claim.id for facts in claims],
            "calculation": comparisons[0]["parameters"] if comparisons else None,
            "bootstrap": _bootstrap([comparison["parameters"] for comparison in comparisons]),
            "parameters": {key: cell(value) for key, value in (parameters or {}).items()},
        },
        "errors": list(errors),
    }


def _bootstrap(parameters: Sequence[Mapping[str, Any]]) -> str | None:
    """How the resampled intervals came about, in words."""
    if not parameters:
        return None
    exact = [one["exact_bootstrap"] for one in parameters]
    if all(exact):
        return "exact bootstrap, all resamples counted"
    drawn = f"{parameters[0]['resamples']} resamples, seed {parameters[0]['seed']}"
    return f"{drawn}; exact where pairs are few" if any(exact) else drawn


def _claim_record(facts: ClaimFacts, settings: Settings | None) -> dict[str, Any]:
    from leakcheck.claims.export import claim_json
    from leakcheck.claims.summary import Settings
    from leakcheck.claims.text import summary_lines

    record = claim_json(facts, settings or Settings())
    record["lines"] = [{"label": label, "value": value} for label, value in summary_lines(facts)]
    return record


def _ablation_record(ablation: Ablation, settings: Settings | None) -> dict[str, Any]:
    """The export of the table, with the words of each row."""
    from leakcheck.claims.export import ablation_json
    from leakcheck.claims.summary import Settings
    from leakcheck.claims.wording import amount, interval_text

    record = ablation_json(ablation, settings or Settings())
    for facts, shown in (
        *zip((one.facts for one in ablation.knockouts), record["knockouts"], strict=True),
        *zip((one.facts for one in ablation.interactions), record["interactions"], strict=True),
    ):
        interval = facts.summary.t_interval
        shown["difference"] = amount(facts.summary.difference, facts.summary)
        shown["interval"] = "none" if interval is None else interval_text(interval, facts.summary)
    return record


def _data_record(audited: AuditedData) -> dict[str, Any]:
    record = asdict(audited)
    record["parameters"] = {
        key: ", ".join(map(str, value)) if isinstance(value, list) else value
        for key, value in audited.parameters.items()
    }
    return record


def _verdict(
    findings: Sequence[Finding],
    claims: Sequence[ClaimFacts],
    errors: Sequence[str],
    code: bool,
    data: bool,
    ablation: Ablation | None,
) -> dict[str, str]:
    """The first thing a reader sees: a state, a headline and one sentence."""
    severities = Counter(finding.severity for finding in findings)
    rest = [finding for finding in findings if not finding.code.startswith("LK8")]
    severe = [finding for finding in rest if finding.severity is Severity.ERROR]
    failing = [facts for facts in claims if facts.verdict.value != "supported"]
    if errors:
        return {"state": "error", "headline": "The check is not complete", "sentence": errors[0]}
    if severe:
        first = severe[0]
        return {
            "state": "bad",
            "headline": "The score cannot be trusted yet",
            "sentence": f"{_count(severities[Severity.ERROR], 'error')}, among them: {_brief(first)}.",
        }
    if failing:
        verdicts = ", ".join(f"{facts.claim.id}: {facts.verdict.value}" for facts in failing[:4])
        if len(claims) == 1:
            return {
                "state": "bad",
                "headline": f"The claim is {failing[0].verdict.value}",
                "sentence": _sentence(failing[0].reason),
            }
        return {
            "state": "bad",
            "headline": f"{len(failing)} of {len(claims)} claims are not supported",
            "sentence": f"{verdicts}.",
        }
    if claims:
        sentence = _sentence(claims[0].reason) if len(claims) == 1 else "Each interval lies above its threshold."
        warned = severities[Severity.WARNING] + severities[Severity.ERROR]
        if warned:
            sentence += f" {_count(warned, 'finding')} below should be read with it."
        headline = (
            "The claim is supported by its runs" if len(claims) == 1 else f"All {len(claims)} claims are supported"
        )
        return {"state": "warn" if warned else "good", "headline": headline, "sentence": sentence}
    if severities[Severity.WARNING]:
        return {
            "state": "warn",
            "headline": "The score may be biased",
            "sentence": f"{_count(severities[Severity.WARNING], 'warning')}, among them: {_brief(findings[0])}.",
        }
    if ablation is not None:
        return _ablation_verdict(ablation)
    legs = [name for name, done in (("code", code), ("data", data)) if done]
    what = " and ".join(legs) or "what was given"
    return {
        "state": "good",
        "headline": "Nothing found",
        "sentence": f"No leak was found in the {what}. That is no proof that there is none: see what was checked.",
    }


def _ablation_verdict(ablation: Ablation) -> dict[str, str]:
    components = dict.fromkeys(one.component for one in ablation.knockouts)
    if not components:
        sentence = "No cell of the table lacks one component and has the runs of the full method."
        return {"state": "warn", "headline": "The table shows the effect of no component", "sentence": sentence}
    helping = dict.fromkeys(
        one.component
        for one in ablation.knockouts
        if one.facts.clears and one.adjusted_p is not None and one.adjusted_p < ALPHA
    )
    told = (
        f"Removing it costs more than the threshold, once corrected: {', '.join(helping)}."
        if helping
        else ("No component's removal costs more than the threshold, once corrected.")
    )
    return {
        "state": "good" if len(helping) == len(components) else "warn",
        "headline": f"{len(helping)} of {_count(len(components), 'component')} shown to help",
        "sentence": told,
    }


def _capped(findings: Sequence[Finding], line_of: LineOf | None) -> dict[str, Any]:
    return {
        "total": len(findings),
        "shown": [_finding(finding, line_of) for finding in findings[:MOST_FINDINGS]],
    }


def _finding(finding: Finding, line_of: LineOf | None) -> dict[str, Any]:
    record = finding_record(finding)
    del record["fix"], record["suppressed"]
    record["place"] = str(finding.location)
    steps = [(step.label, step.location) for step in finding.trace]
    if all(location != finding.location for _, location in steps):
        steps.insert(0, ("found here", finding.location))
    record["path"] = [
        {"label": label, "place": str(location), "source": cell(line_of(location)) if line_of else None}
        for label, location in steps
    ]
    del record["trace"]
    record["evidence"] = evidence_record(finding.evidence)
    return record


def _brief(finding: Finding) -> str:
    """Message and place, short enough for the first screen."""
    message = finding.message
    if len(message) > _MOST_IN_HEAD:
        message = message[: _MOST_IN_HEAD - 3].rstrip() + "..."
    return f"{message} ({finding.location})"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")
