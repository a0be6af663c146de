"""What a file in `rules/` defines."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Generic, TypeVar, get_args

from leakcheck.findings import Confidence, Finding, Fix, Location, Severity, TraceStep

Facts = TypeVar("Facts")


class Rule(ABC, Generic[Facts]):
    """One fault: its metadata, and the check that turns facts into findings.

    `Facts` is the facts type of the leg the rule belongs to (`ProgramFacts`, `AuditFacts`, ...); the driver
    gives each rule the facts of that type.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    leak_class: ClassVar[str]
    severity: ClassVar[Severity]
    since: ClassVar[str]
    sources: ClassVar[tuple[str, ...]] = ()
    help: ClassVar[str]
    facts_type: ClassVar[type]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for base in getattr(cls, "__orig_bases__", ()):
            arguments = get_args(base)
            if arguments and isinstance(arguments[0], type):
                cls.facts_type = arguments[0]

    @abstractmethod
    def check(self, facts: Facts) -> Iterator[Finding]:
        """Yield one finding for each fault in the facts."""

    def finding(
        self,
        location: Location,
        message: str,
        *,
        trace: tuple[TraceStep, ...] = (),
        severity: Severity | None = None,
        confidence: Confidence = Confidence.SURE,
        help: str | None = None,
        fix: Fix | None = None,
        evidence: Mapping[str, Any] | None = None,
    ) -> Finding:
        """Build a finding of this rule; `severity` and `help` default to the rule's own."""
        return Finding(
            code=self.code,
            name=self.name,
            leak_class=self.leak_class,
            severity=severity or self.severity,
            confidence=confidence,
            message=message,
            help=help or self.help,
            location=location,
            trace=trace,
            fix=fix,
            evidence=evidence,
        )
