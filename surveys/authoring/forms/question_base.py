"""The base of the forms for all types of questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.text import Truncator

from privacy.mechanism.mechanisms import MAX_SYMBOLS
from surveys.authoring.answer_options import number_answered
from surveys.authoring.drafts import build_questions
from surveys.authoring.errors import RuleError
from surveys.authoring.forms.rule_choice import RuleChoice
from surveys.authoring.rule_checks import RuleProblem, find_meaning_problems, find_rule_problems
from surveys.authoring.rule_text import parse_rule, write_rule
from surveys.authoring.usual import find_usual_strength
from surveys.authoring.variable_names import conform_name, find_name_problem
from surveys.form_fields import PlainText
from surveys.manifest.names import MAX_LABEL_LENGTH, MAX_NAME_LENGTH
from surveys.manifest.question_types import TYPES, QuestionType, TypeDescription
from surveys.manifest.questions import REFUSED_TEXT
from surveys.manifest.rules import Rule
from surveys.manifest.strength import TWO_COINS, describe_strength, offer_flips
from surveys.models import MAX_QUESTION_LENGTH, Question, QuestionContent

MAX_RULE_LENGTH = 1000
ASK_COST = "cost"  # the name of a button, which the page also sends after every change
# Fields that the query string may fill in, for links that suggest another way to ask.
LISTS = ("options", "scored_items", "scored_options")
OFFERED = ("text", "follow_up", "flips", "refusal")


def question_text(name: str, label: str, **kwargs: Any) -> PlainText:
    return PlainText(
        name=name,
        missing=f"Enter the {name}.",
        max_length=MAX_QUESTION_LENGTH,
        label=label,
        widget=forms.Textarea(attrs={"rows": 3}),
        **kwargs,
    )


class QuestionForm(forms.Form):
    """The fields that every type of question has. `questions` are the survey's, in order."""

    type: QuestionType

    text = question_text(
        "question",
        "Question",
        help_text="One question at a time, in plain text, up to "
        f"{MAX_QUESTION_LENGTH:,} characters.",
    )

    field_order: tuple[str, ...] = (
        "text",
        "follow_up",
        "scored_items",
        "scored_options",
        "output",
        "options",
        "cut_off",
        "limit",
        "minimum",
        "maximum",
        "unit",
        "low_label",
        "high_label",
        "flips",
        "refusal",
        "together",
        "rule",
        "same_fact",
        "name",
        "short_label",
    )
    # The template places these fields one by one.
    LAST: tuple[str, ...] = (
        *("flips", "refusal", "together", "rule", "same_fact", "confirmed"),
        *("name", "short_label"),
    )

    def __init__(
        self,
        data: Any = None,
        *,
        questions: Sequence[Question] = (),
        question: Question | None = None,
        offered: Mapping[str, str] | None = None,
        may_decline: bool = False,
        in_editor: bool = False,
    ) -> None:
        """Build the form of a stored question, or of a new one if `question` is None.

        `may_decline` says whether questions of the survey usually offer "Prefer not to say". The
        editor sends text that is still being typed, so an unfinished rule is not an error there.
        """
        self.in_editor = in_editor
        self.questions, self.question = list(questions), question
        self.usual_flips, self.may_decline = find_usual_strength(self.questions), may_decline
        initial: dict[str, Any] = (
            {"refusal": may_decline, "flips": self.usual_flips}
            if question is None
            else _read(question, self.questions)
        )
        initial |= {name: value for name, value in (offered or {}).items() if name in OFFERED}
        super().__init__(data, initial=initial)
        if "flips" in self.fields:
            self._offer_strengths(_read_flips(initial.get("flips")))
        if "same_fact" in self.fields:
            self._offer_facts()

    @property
    def described(self) -> TypeDescription:
        return TYPES[self.type]

    @property
    def is_cost_asked(self) -> bool:
        """Whether the author only wants to see the cost, so that nothing is stored."""
        return ASK_COST in self.data

    @property
    def unfinished(self) -> str:
        """Say what must be completed before the editor stores the question, if anything."""
        return ""

    @property
    def type_name(self) -> str:
        return self.type.label

    @property
    def position(self) -> int:
        """The question's position in the survey, counted from 1 and including information texts."""
        return len(self.questions) + 1 if self.question is None else self.question.position

    @property
    def earlier(self) -> list[Question]:
        return self.questions[: self.position - 1]

    @property
    def details(self) -> list[forms.BoundField]:
        """The fields that only this type has."""
        return [field for field in self if field.name not in (*self.LAST, "text")]

    @property
    def fact(self) -> forms.BoundField | None:
        """The field `same_fact`, if the page shows it next to the fields for names."""
        has_fact = "same_fact" in self.fields and "same_fact" in self.LAST
        return self["same_fact"] if has_fact else None

    @property
    def differing(self) -> list[str]:
        """Say how the question's protection differs from the protection of most other questions."""
        said = []
        if "flips" in self.fields and str(flips := self["flips"].value()) != str(self.usual_flips):
            said.append(f"{flips} of 100")
        if "refusal" in self.fields and (allowed := bool(self["refusal"].value())) != bool(
            self.may_decline
        ):
            said.append(describe_declining(allowed))
        return said

    def _offer_strengths(self, present: int) -> None:
        field = self.fields["flips"]
        assert isinstance(field, forms.TypedChoiceField)
        field.choices = [
            (number, describe_strength(number).name) for number in offer_flips(present)
        ]
        self.initial["flips"] = present

    def _offer_facts(self) -> None:
        """Offer the earlier scrambled questions, or remove the field if there are none."""
        field = self.fields["same_fact"]
        assert isinstance(field, forms.TypedChoiceField)
        offered = [
            (question.pk, f"Q{number}: {Truncator(question.text).chars(60)}")
            for number, question in number_answered(self.earlier)
            if question.described.is_scrambled
        ]
        if not offered:
            del self.fields["same_fact"]
        field.choices = [("", "No other question"), *offered]

    def clean_rule(self) -> Rule | None:
        try:
            return parse_rule(self.cleaned_data["rule"], earlier=self.earlier)
        except RuleError as error:
            raise ValidationError(str(error), code="rule") from None

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        self._check()
        if not self.errors:
            candidate = self.candidate()
            for problem in self._find_problems(candidate):
                own = problem.key == str(candidate.pk) and "rule" in self.fields
                self.add_error("rule" if own else None, problem.text)
        return cleaned

    def _find_problems(self, candidate: Question) -> list[RuleProblem]:
        if self.question is not None:
            found = find_meaning_problems(
                before=self.question, after=candidate, questions=self.questions
            )
            if found:
                return found
        # A question added at the end breaks no rule of an earlier question.
        since = len(self.questions) if self.question is None else 0
        return find_rule_problems(self.with_candidate(candidate), since=since)

    def _check(self) -> None:
        """Check the type's fields against one another. `cleaned_data` lacks invalid fields."""

    def content(self) -> QuestionContent:
        """Return the question as typed. Fields that belong to other types are empty."""
        empty = Question(type=self.type)
        content = {
            name: self.cleaned_data.get(name, getattr(empty, name)) for name in Question.CONTENT
        }
        return cast(QuestionContent, content)

    def candidate(self) -> Question:
        """Build the question as it would be stored."""
        pk = None if self.question is None else self.question.pk
        return Question(pk=pk, position=self.position, **self.content())

    def with_candidate(self, candidate: Question) -> list[Question]:
        """Return the survey's questions with this one added or replaced."""
        questions = list(self.questions)
        questions[self.position - 1 : self.position] = [candidate]
        return questions

    def shown(self) -> Question | None:
        """Return the question whose cost is shown, as typed or as stored, or None if unknown."""
        if self.is_bound:
            return None if self.errors else self.candidate()
        if self.question is not None and self.question.type == self.type:
            return self.question
        return self._example()

    def guess_codes(self) -> int | None:
        """Return how many codes an unfinished question would have, or None if unknown."""
        usual = self.described.usual_codes
        if usual is None and self.is_bound and self.errors.keys() <= {"text", "rule"}:
            usual = self._count_answers()
        if usual is None or self.described.has_items:
            return usual
        switches = self.fields.keys() & {"refusal", "rule"}
        codes = usual + sum(bool(self[name].value()) for name in switches)
        return codes if codes <= MAX_SYMBOLS else None

    def _count_answers(self) -> int:
        """Count the answers as typed, even if the rule is wrong."""
        [described] = build_questions([Question(**self.content() | {"rule": None})])
        return described.answers

    def _example(self) -> Question | None:
        """Build a new, empty question, or return None if its codes depend on typed text."""
        return Question(
            position=self.position,
            type=self.type,
            text="?",
            flips=self.initial["flips"],
            refusal=bool(self.initial.get("refusal")),
        )


class NamedForm(QuestionForm):
    """The form for types that people answer and that therefore have columns in files."""

    name = PlainText(
        name="name",
        missing="",
        required=False,
        max_length=1000,  # find_name_problem enforces the real limit, and explains it
        label="Name in files (optional)",
        help_text=f"Name of the column in files. Up to {MAX_NAME_LENGTH} characters, such as "
        "used_cannabis. If it is empty, Murmur suggests a name from the question. Anyone can read "
        "the name in the survey’s manifest.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    short_label = PlainText(
        name="label",
        missing="",
        required=False,
        max_length=MAX_LABEL_LENGTH,
        label="Short label in files (optional)",
        help_text="It is never sent to respondents.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    @property
    def names_are_wrong(self) -> bool:
        return "name" in self.errors or "short_label" in self.errors

    def content(self) -> QuestionContent:
        content = super().content()
        if self.question is not None:
            content["source_name"] = self.question.source_name
            if "name" not in self.data:  # the form was opened before an upgrade
                content["name"] = self.question.name
                content["short_label"] = self.question.short_label
        return content

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        taken = [one.name for one in self.questions if one != self.question]
        if name and (problem := find_name_problem(name, taken=taken)):
            raise ValidationError(f"{problem} “{conform_name(name, taken=taken)}” is possible.")
        return name


class RuledForm(QuestionForm):
    rule = PlainText(
        name="rule",
        missing="",
        required=False,
        max_length=MAX_RULE_LENGTH,
        label="Rule",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )

    def __init__(self, data: Any = None, **given: Any) -> None:
        super().__init__(data, **given)
        text = self["rule"].value() or ""
        self.choice = RuleChoice(data, earlier=self.earlier, text=text)
        if self.choice.text != text.strip():
            written = cast(QueryDict, self.data).copy()
            written["rule"] = self.choice.text
            self.data = written

    @property
    def unfinished(self) -> str:
        return self.choice.unfinished if self.in_editor else ""

    def clean_rule(self) -> Rule | None:
        unfinished = "" if self.is_cost_asked or self.in_editor else self.choice.unfinished
        if problem := self.choice.problem or unfinished:
            self.add_error(None, problem)
            return None
        return super().clean_rule()


def refusal_switch(**options: Any) -> forms.BooleanField:
    return forms.BooleanField(label=f"Offer “{REFUSED_TEXT}”", required=False, **options)


class ProtectedForm(RuledForm, NamedForm):
    flips = forms.TypedChoiceField(
        label="How strongly is each answer protected?",
        coerce=int,
        initial=TWO_COINS,
        widget=forms.RadioSelect,
        error_messages={
            "required": "Choose how strongly the answers are protected.",
            "invalid_choice": "Choose one of the strengths in the list.",
        },
    )
    refusal = refusal_switch()
    same_fact = forms.TypedChoiceField(
        label="Same fact as (optional)",
        required=False,
        coerce=int,
        empty_value=None,
        help_text="An earlier question that asks for the same fact, in different words or with "
        "different answers. Both then count as one statement, and respondents read what the two "
        "codes reveal together.",
        error_messages={"invalid_choice": "Choose one of the earlier questions in the list."},
    )


class RowForm(ProtectedForm):
    """The form for types whose questions can share a page as rows of a table."""

    together = forms.BooleanField(
        label="Ask together with the question before",
        required=False,
        help_text="Both questions share a page, as rows of a table. They need the same answers, "
        "declining and rule. Otherwise, each has its own page.",
    )

    @property
    def offers_together(self) -> bool:
        """Whether to show the switch: it is on, or the previous question has the same type."""
        before = self.earlier[-1:]
        return bool(self["together"].value()) or any(one.type == self.type for one in before)


def describe_declining(allowed: bool) -> str:
    return "people may decline" if allowed else "nobody may decline"


def _read_flips(value: Any) -> int:
    """Read flips from a query string or a stored row, or return those of two coins if invalid."""
    text = str(value)
    return int(text) if text in map(str, range(1, 50)) else TWO_COINS


def _read(question: Question, questions: Sequence[Question]) -> dict[str, Any]:
    """Return the values that the form of a stored question shows."""
    initial = {name: getattr(question, name) for name in Question.CONTENT}
    for name in LISTS:
        initial[name] = "\n".join(initial[name])
    initial["rule"] = (
        "" if question.rule is None else write_rule(question.rule, questions=questions)
    )
    initial["confirmed"] = question.described.is_answered and not question.described.is_scrambled
    if question.minimum is None:
        del initial["minimum"], initial["maximum"]  # so that another type's defaults are shown
    return initial
