"""Facts survive the way to JSON and back; nothing else comes back."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leakcheck.findings import Confidence, Location
from leakcheck.flow.facts import ProgramFacts, TrainingScore, Unknown, UnknownKind
from leakcheck.flow.record import from_json, to_json
from leakcheck.programs import Program

PLACE = Location("a.py", 3, 1, 2, 3, 4)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.from_type(Program))
def test_whatever_is_recorded_comes_back(program: Program) -> None:
    assert from_json(to_json(program), Program) == program


def test_a_path_that_is_no_unicode_comes_back() -> None:
    facts = ProgramFacts(notes=("\udce9.py: cut short",))
    assert from_json(to_json(facts), ProgramFacts) == facts


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "7",
        "{}",
        '["a.py",3,1,2,3]',
        '["a.py",3,1,2,3,4,5]',
        '["a.py",3,"1",2,3,4]',
        '["a.py",3,true,2,3,4]',
        '["a.py",3,1.0,2,3,4]',
        "[null,3,1,2,3,4]",
        "[" * 100_000 + "]" * 100_000,
    ],
)
def test_what_is_no_location_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        from_json(text.encode(), Location)


def test_an_unknown_word_of_a_closed_set_is_refused() -> None:
    unknown = Unknown(UnknownKind.VALUE, "f", (PLACE,))
    stated = json.loads(to_json(unknown))
    assert stated[0] == "value"
    with pytest.raises(ValueError, match="surprise"):
        from_json(json.dumps(["surprise", *stated[1:]]).encode(), Unknown)


def test_what_has_no_place_in_a_record_is_told_to_the_author_of_the_fact() -> None:
    with pytest.raises(TypeError, match="set"):
        to_json(TrainingScore({"a"}, "rows", PLACE, ()))  # type: ignore[arg-type]
    assert to_json(Confidence.SURE) == b'"sure"'
