"""Check what a schema cannot express: names, rules, plans, and everything that forms check."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, cast

from django.db import models
from django.http import QueryDict

from surveys.authoring.drafts import build_questions
from surveys.authoring.forms import QUESTION_FORMS, SettingsForm, TranslationForm
from surveys.authoring.forms.question_base import LISTS
from surveys.authoring.forms.translations import field_name
from surveys.comparing.indicators import list_parts, split_indicator
from surveys.definition.format import LABEL, QUESTION_KEYS, Problem, point
from surveys.definition.rules import Names, RuleReader
from surveys.definition.structure import MOST_PROBLEMS, find_structure_problems
from surveys.manifest.languages import WORDS, list_texts
from surveys.manifest.manifest import HUNDREDTHS, Manifest
from surveys.manifest.question_types import TYPES
from surveys.manifest.releases import ReleaseKind
from surveys.manifest.rules import MAX_CASES, share_cases
from surveys.models import Question, QuestionContent, Survey
from surveys.models.settings import SETTING_NAMES

_SPACES = "This begins or ends with a space, or contains nothing visible. Change it."
# The limit for all rules together. The check of a single rule may try a fifth of these cases.
MOST_CASES = 5 * MAX_CASES
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(kw_only=True)
class Checked:
    """The content of a definition, and its problems. Without problems, everything can be created.

    The keys of questions are -1, -2 and so on. Rules and references use these keys.
    """

    problems: list[Problem] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)
    questions: list[Question] = field(default_factory=list)
    translations: dict[str, dict[str, str]] = field(default_factory=dict)
    comparisons: list[list[tuple[int, str]]] = field(default_factory=list)
    releases: list[dict[str, Any]] = field(default_factory=list)


def check_definition(definition: Any) -> Checked:
    """Check a whole definition. Raises InvalidDefinition if the document is not a definition."""
    checker = _Checker(cast(dict[str, Any], definition), find_structure_problems(definition))
    with share_cases(MOST_CASES):
        checker.check()
    checked = checker.checked
    checked.problems = list(dict.fromkeys(checked.problems))[:MOST_PROBLEMS]
    return checked


class _Checker:
    """Checks each part of a definition that has the right structure."""

    def __init__(self, definition: dict[str, Any], problems: list[Problem]) -> None:
        self.definition, self.checked = definition, Checked(problems=list(problems))
        self.broken = [problem.pointer for problem in problems]

    def check(self) -> None:
        if self._is_sound("title") and self._is_sound("settings"):
            self._check_settings()
        questions = self._list("questions")
        self.names = Names(questions)
        self._check_questions(questions)
        if self.checked.problems:
            # Plans and translations depend on the questions, so only references can be checked.
            self._check_references()
            return
        self._check_plans()
        self._check_translations()

    def _is_sound(self, *path: str | int) -> bool:
        here = point(*path)
        above = {point(*path[:length]) for length in range(len(path))}
        inside = any(pointer == here or pointer.startswith(f"{here}/") for pointer in self.broken)
        missing = f"“{path[-1]}” is missing."
        return not inside and not any(
            problem.pointer in above and problem.text == missing
            for problem in self.checked.problems
        )

    def _list(self, key: str) -> list[Any]:
        found = self.definition.get(key)
        return found if isinstance(found, list) else []

    def _add(self, text: str, *path: str | int) -> None:
        self.checked.problems.append(Problem(pointer=point(*path), text=text))

    def _check_settings(self) -> None:
        given = dict(self.definition.get("settings", {}))
        given["title"] = self.definition["title"]
        for name, value in given.items():
            stored = Survey._meta.get_field(name)
            if value is None or not isinstance(stored, models.DateField):
                continue
            given[name] = _read_date(value, has_time=isinstance(stored, models.DateTimeField))
            if given[name] is None:
                self._add("There is no such day or time.", *_find_setting(name))
        defaults = {name: Survey._meta.get_field(name).get_default() for name in SETTING_NAMES}  # type: ignore[union-attr]
        values = defaults | given
        form = SettingsForm(_as_data(values), now=_LONG_AGO)
        form.is_valid()
        for name, texts in form.errors.items():
            name = "release_epsilon_hundredths" if name == "release_epsilon" else name
            for text in map(str, texts):
                self._add(text, *_find_setting(name))
        for name, value in given.items():
            cleaned = form.cleaned_data.get(name, value)
            if isinstance(value, str) and cleaned != value:
                self._add(_SPACES, *_find_setting(name))
        self.checked.settings = values

    def _check_questions(self, questions: Sequence[Any]) -> None:
        for place, described in enumerate(questions):
            if self._is_sound("questions", place):
                self._check_question(place, described)
            else:  # later questions may refer to this question, or have the same name
                name = described.get("name") if isinstance(described, dict) else None
                self.checked.questions.append(Question(pk=-place - 1, name=str(name or "")))

    def _check_question(self, place: int, described: Mapping[str, Any]) -> None:
        known = self.checked.questions
        content = {
            field: described[key] for key, field in QUESTION_KEYS.items() if key in described
        }
        reader = RuleReader(known, names=self.names, place=place)
        rule, fact = reader.read_rule(described), reader.read_fact(described)
        self.checked.problems += reader.problems
        form = QUESTION_FORMS[described["type"]](
            _list_values(content, rule=reader.write(rule), same_fact=fact),
            questions=known,
            offered={"flips": str(content.get("flips", ""))},
        )
        form.is_valid()
        for name, texts in form.errors.items():
            inner = () if name == "__all__" else ("label" if name == LABEL else name,)
            for text in map(str, texts):
                self._add(text, "questions", place, *inner)
        for key, name in QUESTION_KEYS.items():
            if isinstance(value := content.get(name), str | list) and name != "same_fact":
                stripped = value.strip() if isinstance(value, str) else value
                if form.cleaned_data.get(name, stripped) != value:
                    self._add(_SPACES, "questions", place, key)
        if not form.errors:
            kept: Mapping[str, Any] = form.content()
            for name in ("options", "cut_off"):
                if kept[name] in (None, []) and content.get(name) not in (None, []):
                    self._add(
                        "This output does not use this key. Leave it out.", "questions", place, name
                    )
        if rule is not None and form.cleaned_data.get("rule", rule) != rule:
            self._add(
                "This rule cannot be written in the editor. Write it more simply.",
                *("questions", place, "rule"),
            )
        content |= {"rule": rule, "same_fact": fact}
        known.append(Question(pk=-place - 1, position=place + 1, **cast(QuestionContent, content)))

    def _check_references(self) -> None:
        """Check the names in plans, which is possible even if questions have problems."""
        for pointer, name in self._list_references():
            if name not in self.names:
                self.checked.problems.append(Problem(pointer=pointer, text=_unknown(name)))

    def _list_references(self) -> Iterator[tuple[str, str]]:
        """Yield the place and name of each reference in plans that have the right structure."""
        for place, names in enumerate(self._list("planned_comparisons")):
            if self._is_sound("planned_comparisons", place):
                for number, name in enumerate(names):
                    where = point("planned_comparisons", place, number)
                    yield where, split_indicator(name)[0]
        for place, release in enumerate(self._list("planned_releases")):
            if self._is_sound("planned_releases", place):
                for number, name in enumerate(release["questions"]):
                    yield point("planned_releases", place, "questions", number), name
                if "group" in release:
                    yield point("planned_releases", place, "group"), release["group"]

    def _check_plans(self) -> None:
        self._check_references()
        if self.checked.problems:
            return
        described = build_questions(self.checked.questions)
        by_name = {name: described[place] for name, place in self.names.items()}
        for place, names in enumerate(self._list("planned_comparisons")):
            answers = []
            for number, indicator in enumerate(names):
                name, part = split_indicator(indicator)
                if not _has_part(list_parts(by_name[name]), part):
                    self._add(
                        f"“{name}” has no answer “{part}” to compare.",
                        *("planned_comparisons", place, number),
                    )
                answers.append((self.names.find_key(name), part))
            self.checked.comparisons.append(answers)
        for place, release in enumerate(self._list("planned_releases")):
            codes = {option.code for option in by_name[release["questions"][0]].options}
            self._check_alert(place, release, codes)
            group = release.get("group")
            self.checked.releases.append(
                {
                    "kind": release["kind"],
                    "questions": list(map(self.names.find_key, release["questions"])),
                    "epsilon_hundredths": release["epsilon_hundredths"],
                    "answer": release.get("answer"),
                    "percent": release.get("percent"),
                    "group": None if group is None else self.names.find_key(group),
                }
            )

    def _check_alert(self, place: int, release: Mapping[str, Any], codes: set[int]) -> None:
        is_alert = release["kind"] == ReleaseKind.ALERT
        for key in ("answer", "percent"):
            if (key in release) != is_alert:
                what = "An alert needs this key." if is_alert else "Only an alert has this key."
                self._add(what, "planned_releases", place, key)
        if is_alert and release.get("answer", -1) not in codes and "answer" in release:
            name = release["questions"][0]
            self._add(f"“{name}” has no such answer.", "planned_releases", place, "answer")

    def _check_translations(self) -> None:
        """Check that each translation is no longer than the limit for its source text."""
        if self.checked.problems:
            return
        settings = self.checked.settings
        manifest = Manifest(
            **{name: settings[name] for name in WORDS},
            survey="",
            wave=1,
            questions=build_questions(self.checked.questions),
            language=settings["language"],
            minimum_batch=settings["minimum_batch"],
            display_minimum=settings["display_minimum"],
            opens=None,
            closes=None,
            cap=None,
        )
        sources = list_texts(manifest)
        for language, texts in self.definition.get("translations", {}).items():
            data = QueryDict(mutable=True)
            data.update({field_name(text): words for text, words in texts.items()})
            form = TranslationForm(data, sources=sources, language=language, texts={}, own={})
            form.is_valid()
            for name, source in form.sources.items():
                for text in form.errors.get(name, ()):
                    self._add(str(text), "translations", language, source.text)
            for text, words in texts.items():
                if form.cleaned_data.get(field_name(text), words.strip()) != words:
                    self._add(_SPACES, "translations", language, text)
            self.checked.translations[language] = dict(texts)


def _find_setting(name: str) -> tuple[str, ...]:
    return (name,) if name == "title" else ("settings", name)


def _read_date(value: str, *, has_time: bool) -> datetime | date | None:
    """Read a date, with or without a time, or return None if the date or time does not exist."""
    try:
        return datetime.fromisoformat(value) if has_time else date.fromisoformat(value)
    except ValueError:
        return None


def _as_data(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings as data for their form."""
    epsilon = Decimal(values["release_epsilon_hundredths"]) / HUNDREDTHS
    return {**values, "release_epsilon": str(epsilon)}


def _list_values(content: Mapping[str, Any], *, rule: str, same_fact: int | None) -> dict[str, Any]:
    """Return a question as data for its form, without missing values."""
    data = dict(content) | {"rule": rule, "same_fact": same_fact, "confirmed": True}
    for name in LISTS:
        data[name] = "\n".join(content.get(name, ()))
    if TYPES[content["type"]].is_scrambled:
        data["flips"] = str(content["flips"])
    return {name: value for name, value in data.items() if value is not None}


def _has_part(parts: Mapping[str, str], part: str) -> bool:
    """Return whether a question has this indicator or factor. The factor may name a reference."""
    factor, _, reference = part.partition(".")
    return part in parts or (factor == "all" and factor in parts and reference in {"0", *parts})


def _unknown(name: str) -> str:
    return f"No question is named “{name}”."
