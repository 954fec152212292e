"""Random drafts with every type of question, rules, references, plans and translations."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, date, datetime
from random import Random
from typing import Any

from accounts.models import User
from surveys.authoring.drafts import build_manifest, load_draft
from surveys.authoring.errors import BrokenRules
from surveys.authoring.scale_lines import build_score
from surveys.authoring.services import add_question, plan_comparison, plan_release
from surveys.comparing.choice import NotComparable
from surveys.comparing.indicators import list_predictors
from surveys.manifest.grids import TYPES_IN_GRIDS
from surveys.manifest.languages import LANGUAGES, list_texts
from surveys.manifest.manifest import Publication
from surveys.manifest.names import item_name
from surveys.manifest.question_types import TYPES
from surveys.manifest.releases import ReleaseRequest
from surveys.manifest.rules import Rule
from surveys.manifest.scores import Output
from surveys.models import Question, Survey
from surveys.releasing.choice import PLANNABLE, NotReleasable
from tests.support.scores import draw_output, draw_scale

WORDS = (
    *("ever", "weeks", "drive", "Überstunden", "年龄", "عمر", "\u200fكم", "50 %", "<b>bold</b>"),
    *("=1+1", '"quoted"', "back\\slash", "{{ x }}", "🙂", "it’s", "a/b~c", "null", "'"),
)
_TYPES = [kind.value for kind in Question.Type if kind != Question.Type.SECOND]


def make_random_draft(random: Random, *, owner: User) -> Survey:
    survey = Survey.objects.create_owned(owner, title=_say(random), **_draw_settings(random))
    for number in range(random.randint(0, 9)):
        _add_question(random, survey, number)
    with suppress(BrokenRules):  # a band that no answers reach
        _add_second(Random(survey.title), survey, "Another code")
    fresh = Survey.objects.get(pk=survey.pk)
    load_draft(fresh)
    manifest = build_manifest(survey=fresh, wave_number=1)
    for code, _ in LANGUAGES:
        if random.random() < 0.2:
            texts = {
                one.text: _say(random) for one in list_texts(manifest) if random.random() < 0.8
            }
            survey.translations.create(language=code, texts=texts)
    _plan(random, survey)
    return Survey.objects.get(pk=survey.pk)


def _say(random: Random, *, words: int = 4) -> str:
    return " ".join(random.choice(WORDS) for _ in range(random.randint(1, words)))


def _draw_settings(random: Random) -> dict[str, Any]:
    minimum = random.choice([10, 50, 60])
    people = random.choice([None, 100, 4000])
    settings: dict[str, Any] = {
        "introduction": f"{_say(random)}\n\n{_say(random)}",
        "organization": _say(random),
        "contact": "office@example.org",
        "notice_url": "https://example.org/privacy",
        "help_name": "Helpline",
        "help_phone": "+49 30 123456",
        "minimum_age": 16,
        "shared_devices": True,
        "confirm_answers": True,
        "quick_exit": False,
        "minimum_batch": minimum,
        "display_minimum": random.choice([100, minimum]),
        "people_expected": people,
        "opens_at": datetime(2020, 1, 1, 8, 30, tzinfo=UTC),
        "delete_on": date(2099, 12, 31),
        "language": random.choice(["de", "ar"]),
        "publication": random.choice(list(Publication)),
        "release_epsilon_hundredths": 250,
        "release_delta_nanos": 500,
        "drawn": 2,
    }
    kept = {name: value for name, value in settings.items() if random.random() < 0.7}
    if "help_name" not in kept:
        kept.pop("help_phone", None)
    always = {"minimum_batch": minimum, "display_minimum": settings["display_minimum"]}
    extra = random.choice([{}, {"may_decline": True}, {"coins": True}])
    return kept | always | extra | {"closes_at": datetime(2030, 2, 3, 4, 5, 6, tzinfo=UTC)}


def _add_question(random: Random, survey: Survey, number: int) -> None:
    kind = random.choice(_TYPES)
    earlier = list(survey.questions.all())
    content: dict[str, Any] = {"type": kind, "text": f"{_say(random, words=9)} {number}"}
    scrambled = TYPES[kind].is_scrambled
    if scrambled:
        content["flips"] = random.choice([1, 12, 25, 33, 49])
    if kind in ("choice", "several", "declared"):
        content["options"] = [f"{_say(random)} {place}" for place in range(random.randint(2, 6))]
    if kind == "several":
        content["limit"] = random.choice([None, 1])
    if kind in ("scale", "number"):
        low = random.randint(-5, 5)
        content |= {"minimum": low, "maximum": low + random.randint(1, 10)}
    if kind == "scale":
        content |= {"low_label": _say(random), "high_label": random.choice(["", _say(random)])}
    if kind == "number":
        content["unit"] = random.choice(["", "hours"])
    if kind == "follow_up":
        content["follow_up"] = _say(random)
    if kind == "score":
        content |= draw_scale(random)
    if kind != "information":
        content["refusal"] = random.random() < 0.4
        content["source_name"] = random.choice(["", f"PHQ9_{number}", "=cmd()"])
        content["short_label"] = random.choice(["", _say(random)])
    if kind in TYPES_IN_GRIDS:
        content["together"] = random.random() < 0.3
    facts = [one.pk for one in earlier if one.described.is_scrambled]
    if scrambled and facts and random.random() < 0.3:
        content["same_fact"] = random.choice(facts)
    if kind != "declared" and random.random() < 0.5:
        content["rule"] = _draw_rule(random, earlier, depth=2)
    try:
        add_question(survey=survey, **content)
    except BrokenRules:  # the rule holds always or never
        add_question(survey=survey, **content | {"rule": None})


def _add_second(random: Random, survey: Survey, text: str) -> None:
    """Add a second code of a scale, if there is a scale without one."""
    rows = list(survey.questions.all())
    taken = {one.same_fact for one in rows if one.is_second}
    scales = [one for one in rows if one.type == "score" and one.pk not in taken]
    if scales:
        scale = random.choice(scales)
        score = build_score(scale)
        assert score is not None
        output = random.choice([one for one in Output if one != scale.output])
        content: dict[str, Any] = draw_output(score, output=output) | {"output": output.value}
        content |= {"type": "second", "same_fact": scale.pk, "flips": random.choice([1, 25])}
        add_question(survey=survey, text=text, **content)


def _draw_rule(random: Random, earlier: list[Question], *, depth: int) -> Rule | None:
    shape = random.choice(["leaf", "all", "any", "not"]) if depth else "leaf"
    if shape == "not":
        inner = _draw_rule(random, earlier, depth=depth - 1)
        return inner and {"not": inner}
    if shape != "leaf":
        # Two nested lists with the same word would become one longer list.
        parts = [_draw_rule(random, earlier, depth=0) for _ in range(random.randint(2, 3))]
        return {shape: parts} if all(parts) else None
    if not earlier:
        return None
    one = random.choice(earlier)
    if one.described.has_items:
        return {"name": item_name(str(one.pk), random.randint(1, len(one.options))), "is": [1]}
    codes = {
        "yes_no": 2,
        "follow_up": 3,
        "choice": len(one.options),
        "declared": len(one.options),
        "scale": (one.maximum or 0) - (one.minimum or 0) + 1 if one.has_point_shares else 0,
    }.get(one.carrier, 0)
    if not codes:
        return None
    chosen = random.sample(range(codes), random.randint(1, max(1, codes - 1)))
    return {"name": str(one.pk), "is": sorted(chosen)}


def _plan(random: Random, survey: Survey) -> None:
    manifest = build_manifest(survey=survey, wave_number=1)
    predictors = [one.name for one in list_predictors(manifest)]
    for _ in range(4):
        try:
            names = random.sample(predictors, min(len(predictors), random.randint(2, 3)))
            plan_comparison(survey=survey, names=names)
        except NotComparable:
            pass
    answered = [one for one in manifest.questions if one.is_answered]
    for _ in range(8 if answered else 0):
        kind, one = random.choice(PLANNABLE), random.choice(answered)
        many = random.sample(answered, min(3, len(answered)))
        is_alert = kind == "alert"
        chosen = [one] if is_alert or kind.names_one_answer else many
        request = ReleaseRequest(
            kind=kind,
            questions=tuple(each.name for each in chosen),
            epsilon_hundredths=random.randint(1, 40),
            answer=random.choice(one.options).code if is_alert and one.options else None,
            percent=random.randint(1, 99) if is_alert else None,
            group=random.choice(["", one.name]) if kind == "table" else "",
        )
        with suppress(NotReleasable):
            plan_release(survey=survey, request=request)
