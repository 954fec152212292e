"""Each problem of a definition is reported with its place; nothing is created or executed."""

from __future__ import annotations

import copy
import json
from collections import Counter
from random import Random
from typing import Any

import jsonschema
import pytest

from surveys.authoring.drafts import build_manifest
from surveys.definition import checking
from surveys.definition.checking import check_definition
from surveys.definition.creating import create_draft
from surveys.definition.exporting import build_definition
from surveys.definition.format import MOST_BYTES, InvalidDefinition
from surveys.definition.parsing import MOST_VALUES, parse_definition
from surveys.definition.schema import build_schema
from surveys.definition.structure import MOST_PROBLEMS
from surveys.manifest.serialization import serialize_manifest
from surveys.models import Survey
from tests.support.factories import make_user
from tests.support.random_drafts import make_random_draft


def question(name: str, **more: Any) -> dict[str, Any]:
    text = f"{name.title()}?"
    return {"name": name, "type": "yes_no", "text": text, "flips": 25} | more


def document(*questions: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "format": "murmur-definition",
        "version": 1,
        "title": "Driving",
        "questions": list(questions),
    } | more


def drinks(**more: Any) -> dict[str, Any]:
    return question("drinks", type="several", options=["Beer", "Wine", "Rum"]) | more


def read(found: dict[str, Any] | bytes) -> list[str]:
    """Return the pointers to the places of all problems."""
    try:
        parsed = parse_definition(found if isinstance(found, bytes) else json.dumps(found).encode())
        return [problem.pointer for problem in check_definition(parsed).problems]
    except InvalidDefinition as error:
        return [problem.pointer for problem in error.problems]


RULE, UNKNOWN = {"name": "used", "is": [1]}, {"name": "no", "is": [1]}


def only_if(name: str = "used", *, is_: list[int]) -> dict[str, Any]:
    return question("age", rule={"name": name, "is": is_})


@pytest.mark.parametrize(
    ("found", "pointers"),
    [
        (document(question("used")), []),
        (document(question("used", flips=25.0)), []),
        (document(drinks(), question("used", rule={"name": "drinks_3", "is": [1]})), []),
        (b"{", [""]),
        (b"\xff\xfe{", [""]),
        (b"[" * 100_000, [""]),
        (b'{"a":' * 200 + b"1" + b"}" * 200, [""]),
        (b"1" * 5000, [""]),
        (b" " * (MOST_BYTES + 1), [""]),
        (b"null", [""]),
        (document() | {"version": 2, "questions": 7}, ["/version"]),
        (document() | {"format": "qsf"}, [""]),
        (document(translations={"de": {str(n): "x" for n in range(MOST_VALUES)}}), [""]),
        (document(*[question("used")] * 101), ["/questions"]),
        (json.dumps(document()).encode()[:-1] + b',"title":"A"}', ["/title"]),
        (document(question("used", flips=float("nan"))), ["/questions/0/flips"]),
        (document(question("used", flips=float("inf"))), ["/questions/0/flips"]),
        (document(question("used", flips=True)), ["/questions/0/flips"]),
        (document(question("used", text="\ud800")), ["/questions/0/text"]),
        (document(question("used", **{"\ud800": 1})), ["/questions/0"]),
        (document(question("used", text="a\x00b")), ["/questions/0/text"]),
        (document(question("used", text="a\u202eb")), ["/questions/0/text"]),
        (document(question("used", text="a\n")), ["/questions/0/text"]),
        (document(question("used", text=" a")), ["/questions/0/text"]),
        (document(question("used", text="\u200b")), ["/questions/0/text"]),
        (document(question("used", **{"a/b~c": 1})), ["/questions/0/a~1b~0c"]),
        (document(question("Used")), ["/questions/0/name"]),
        (document(question("select")), ["/questions/0/name"]),
        (document(question("used_2")), ["/questions/0/name"]),
        (document(question("q1")), ["/questions/0/name"]),
        (document(question("data")), ["/questions/0/name"]),
        (document(question("used"), question("used")), ["/questions/1/name"]),
        (document(question("used", rule=RULE)), ["/questions/0/rule/name"]),
        (
            document(question("age", rule=RULE), question("used", rule=RULE | {"name": "age"})),
            ["/questions/0/rule/name"],
        ),
        (
            document(
                question("used"), question("age", rule={"all": [RULE, RULE | {"name": "no"}]})
            ),
            ["/questions/1/rule/all/1/name"],
        ),
        (document(question("used"), only_if(is_=[2])), ["/questions/1/rule/is"]),
        (document(question("used"), question("age", rule={"not": {}})), ["/questions/1/rule/not"]),
        (document(question("used"), only_if(is_=[0, 1])), ["/questions/1/rule"]),
        (document(drinks(), only_if("drinks", is_=[1])), ["/questions/1/rule/name"]),
        (document(drinks(), only_if("drinks_4", is_=[1])), ["/questions/1/rule/name"]),
        (document(drinks(), only_if("drinks_1", is_=[0])), ["/questions/1/rule/is"]),
        (document(question("used", same_fact="used")), ["/questions/0/same_fact"]),
        (document(drinks(limit=3)), ["/questions/0/limit"]),
        (document(drinks(options=["Beer", "BEER"])), ["/questions/0/options"]),
        (document(question("used", unit="hours")), ["/questions/0/unit"]),
        (document(settings={"cap": 5}), ["/settings/cap"]),
        (
            document(settings={"cap": 60, "display_minimum": 70, "minimum_batch": 50}),
            ["/settings/cap"],
        ),
        (document(settings={"opens_at": "2027-02-30T00:00:00Z"}), ["/settings/opens_at"]),
        (document(settings={"notice_url": "javascript:alert(1)"}), ["/settings/notice_url"]),
        (document(translations={"xx": {}}), ["/translations/xx"]),
        (
            document(question("used"), planned_comparisons=[["used", "no"]]),
            ["/planned_comparisons/0/1"],
        ),
        (
            document(question("used"), drinks(), planned_comparisons=[["used", "drinks.4"]]),
            ["/planned_comparisons/0/1"],
        ),
        (
            document(
                question("used"),
                planned_releases=[
                    {"kind": "alert", "questions": ["used"], "epsilon_hundredths": 1, "percent": 3}
                ],
            ),
            ["/planned_releases/0/answer"],
        ),
        # All problems are reported at once, even if parts of the document cannot be read.
        (
            document(question("used", flips=0), question("age", rule=UNKNOWN), title=""),
            ["/title", "/questions/0/flips", "/questions/1/rule/name"],
        ),
    ],
)
def test_problems_have_their_places(found: dict[str, Any] | bytes, pointers: list[str]) -> None:
    assert read(found) == pointers


def test_a_translation_is_as_long_as_its_original_may_be() -> None:
    found = document(drinks(), translations={"de": {"Beer": "x" * 201, "Drinks?": "Getränke? "}})
    assert read(found) == ["/translations/de/Beer", "/translations/de/Drinks?"]


@pytest.mark.parametrize("texts", [{str(n): "" for n in range(5_000)}, {}])
def test_lists_of_problems_end(texts: dict[str, str]) -> None:
    questions = [question(f"a{'b' * n}", flips=0) for n in range(19)]
    found = document(*questions, translations={"de": texts})
    assert len(read(found)) == (MOST_PROBLEMS if texts else 19)


def test_rules_that_are_hard_to_check_share_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "MOST_CASES", 1000)
    names = [f"a{letter}" for letter in "cdefghijklm"]
    pairs = [
        {"all": [{"name": name, "is": [1]} for name in names[at:][:2]]} for at in range(0, 10, 2)
    ]
    hard = {"all": [{"any": pairs}, {"not": {"any": pairs}}]}
    asked = [question(f"b{letter}", rule=hard) for letter in "cde"]
    found = check_definition(document(*map(question, names), *asked)).problems
    told = ["never be asked", "too long to check", "too long to check"]
    assert [words in one.text for words, one in zip(told, found, strict=True)] == [True] * 3


def test_a_default_never_changes_within_a_version() -> None:
    """If a default changed, so would the meaning of older files."""
    settings = build_schema()["properties"]["settings"]["properties"]
    defaults = {name: one["default"] for name, one in settings.items() if one["default"]}
    assert defaults == {
        "minimum_batch": 50,
        "display_minimum": 100,
        "language": "en",
        "quick_exit": True,
        "publication": "none",
        "release_epsilon_hundredths": 100,
        "release_delta_nanos": 1000,
    }


@pytest.mark.django_db
def test_nothing_is_created_from_a_definition_with_a_problem() -> None:
    with pytest.raises(InvalidDefinition):
        create_draft(document(question("used"), question("used")), owner=make_user())
    assert not Survey.objects.exists()


def _mutate(random: Random, found: Any) -> None:
    """Change one value somewhere in the document."""
    places: list[tuple[Any, Any]] = []
    left = [found]
    while left:
        value = left.pop()
        keys = value if isinstance(value, dict) else range(len(value))
        places += [(value, key) for key in keys]
        left += [value[key] for key in keys if isinstance(value[key], dict | list)]
    holder, key = random.choice(places)
    known = [one[at] for one, at in places if not isinstance(one[at], dict | list)]
    numbers = [None, True, 0, -1, 1, 7, 25, 64, 10**30, 1.5]
    new = random.choice([*numbers, "", " ", "x", "a" * 300, "\u202e", [], {}, *known])
    match random.choice(["replace", "delete", "add", "copy", "move", "same"]):
        case "move" if isinstance(holder, list):  # rules on later questions
            random.shuffle(holder)
        case "same":  # names that collide
            alike = [one[at] for one, at in places if at == key]
            holder[key] = copy.deepcopy(random.choice(alike))
        case "delete":
            del holder[key]
        case "add" if isinstance(holder, dict):
            holder[random.choice(["limit", "rule", "x", "unit", "minimum", "options"])] = new
        case "copy":
            holder[key] = copy.deepcopy(random.choice(places)[0])
        case _:
            holder[key] = new


def _check_mutant(random: Random, source: dict[str, Any], owner: Any) -> str:
    found = copy.deepcopy(source)
    for _ in range(random.randint(1, 2)):
        _mutate(random, found)
    content = json.dumps(found)
    fits = jsonschema.Draft202012Validator(build_schema()).is_valid(json.loads(content))
    try:
        survey = create_draft(parse_definition(content.encode()), owner=owner)
    except InvalidDefinition:
        return "refused by the server" if fits else "refused by both"
    assert fits, "the server took what the schema refuses"
    serialize_manifest(build_manifest(survey=survey, wave_number=1))
    return "taken by both"


@pytest.mark.django_db
@pytest.mark.parametrize("mutants", [60, pytest.param(300, marks=pytest.mark.long)])
def test_server_and_schema_agree_on_mutants(mutants: int) -> None:
    """The server rejects all that the schema rejects; accepted drafts can be shown and frozen."""
    random, owner = Random(40), make_user()
    sources: list[Any] = [
        json.loads(json.dumps(build_definition(make_random_draft(Random(seed), owner=owner))))
        for seed in range(5)
    ]
    outcomes = Counter(
        _check_mutant(random, sources[number % len(sources)], owner) for number in range(mutants)
    )
    assert outcomes.keys() == {"refused by both", "refused by the server", "taken by both"}


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(build_schema())
