"""Training rows are dated at or after the first test row (plus the declared gap)."""

from collections.abc import Iterator
from dataclasses import asdict

from leakcheck.audit.describe import example, examples, ranges
from leakcheck.audit.facts import NO_GAP, AuditFacts, EntityOrder, TimeOverlap
from leakcheck.findings import Finding, Severity
from leakcheck.rule import Rule


class TemporalOverlap(Rule[AuditFacts]):
    code = "LK701"
    name = "temporal-overlap"
    leak_class = "L3.1"
    severity = Severity.ERROR
    since = "0.1.0"
    sources = ("Kapoor and Narayanan 2023, Leakage and the reproducibility crisis",)
    help = "Split by time: every training row before the first held-out row, less the gap."

    def check(self, facts: AuditFacts) -> Iterator[Finding]:
        for overlap in facts.times:
            first, last = overlap.held_out_range[0], overlap.training_range[1]
            inside = "".join(
                f"; inside each `{order.entity}` the order holds"
                for order in facts.orders
                if (order.training, order.held_out) == (overlap.training, overlap.held_out) and not order.touched
            )
            yield self.finding(
                overlap.example.second.location,
                f"{_share(overlap)} have `{overlap.column}` at or after the first of "
                f"{overlap.held_out} ({first}){_gap(overlap)}; the last is {last}{inside}",
                trace=ranges(
                    (f"{overlap.training}, {' to '.join(overlap.training_range)}", overlap.example.second),
                    (f"{overlap.held_out}, {' to '.join(overlap.held_out_range)}", overlap.example.first),
                    overlap.picture,
                ),
                evidence={**asdict(overlap), "example": example(overlap.example)},
            )
        for order in facts.orders:
            if not order.touched:
                continue
            worst = order.examples[0]
            name = f" {order.worst!r}" if order.worst is not None else ""
            yield self.finding(
                worst.second.location,
                f"{_share(order)} have `{order.column}` at or after the first row in {order.held_out} of their own "
                f"`{order.entity}`{_gap(order)}: {order.entities} of the {order.shared} on both sides",
                trace=ranges(
                    (f"{order.entity}{name} in {order.training}, the last", worst.second),
                    (f"{order.entity}{name} in {order.held_out}, the first", worst.first),
                    order.picture,
                ),
                evidence={**asdict(order), **examples(order.examples, order.entities)},
            )


def _share(overlap: TimeOverlap | EntityOrder) -> str:
    share = 100 * overlap.touched / overlap.total
    return f"{overlap.touched} of {overlap.total} rows of {overlap.training} ({share:.1f} %)"


def _gap(overlap: TimeOverlap | EntityOrder) -> str:
    return "" if overlap.gap == NO_GAP else f" less the gap of {overlap.gap}"
