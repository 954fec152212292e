"""The questions of a survey, and its texts in other languages."""

from __future__ import annotations

from typing import Any, TypedDict

from django.db import models
from django.db.models.functions import Lower

from surveys.manifest.languages import LANGUAGES
from surveys.manifest.names import MAX_LABEL_LENGTH, MAX_NAME_LENGTH, MAX_SOURCE_LENGTH
from surveys.manifest.question_types import TYPES, QuestionType, TypeDescription
from surveys.manifest.questions import has_point_shares
from surveys.manifest.scores import CARRIERS, Output
from surveys.models.surveys import Survey

MAX_QUESTION_LENGTH = 1000
MAX_OPTION_LENGTH = 200
# The greatest lengths of a line with an item and its marks, and of a line with an answer and its
# number.
MAX_ITEM_LENGTH = 320
MAX_SCORED_OPTION_LENGTH = 110


class QuestionContent(TypedDict, total=False):
    """Everything that an author decides about a question, except its place."""

    type: str
    name: str
    source_name: str
    short_label: str
    text: str
    flips: int
    options: list[str]
    minimum: int | None
    maximum: int | None
    unit: str
    low_label: str
    high_label: str
    limit: int | None
    follow_up: str
    scored_items: list[str]
    scored_options: list[str]
    output: str
    cut_off: int | None
    refusal: bool
    rule: dict[str, Any] | None
    same_fact: int | None
    together: bool


class Question(models.Model):
    Type = QuestionType

    survey = models.ForeignKey(Survey, on_delete=models.CASCADE, related_name="questions")
    position = models.PositiveSmallIntegerField()
    type = models.CharField(max_length=16, choices=Type.choices, default=Type.YES_NO)
    # The variable in files (surveys.authoring.variable_names). It is empty for information texts,
    # and for questions of surveys that were opened before questions had names.
    name = models.CharField(max_length=MAX_NAME_LENGTH, blank=True)
    # The name in an imported file, which exports use again.
    source_name = models.CharField(max_length=MAX_SOURCE_LENGTH, blank=True)
    # A short label for the question in files. Respondents never receive it.
    short_label = models.CharField(max_length=MAX_LABEL_LENGTH, blank=True)
    text = models.CharField(max_length=MAX_QUESTION_LENGTH)
    # The strength: how many of 100 people who have one of two answers send the other answer's code.
    flips = models.PositiveSmallIntegerField(default=25)
    # The answers to choose from, if the author writes them, or the bands of a score.
    options: models.JSONField[list[str]] = models.JSONField(default=list, blank=True)
    # The range of a number, or the first and last point of a scale.
    minimum = models.IntegerField(null=True, blank=True)
    maximum = models.IntegerField(null=True, blank=True)
    unit = models.CharField(max_length=40, blank=True)
    low_label = models.CharField(max_length=100, blank=True)
    high_label = models.CharField(max_length=100, blank=True)
    # For "select several": the largest number of options that a person may choose.
    limit = models.PositiveSmallIntegerField(null=True, blank=True)
    # The question asked after Yes. Its answer is sent in the same symbol.
    follow_up = models.CharField(max_length=MAX_QUESTION_LENGTH, blank=True)
    # For a score: the items and the answers that they share, in lines as authors write them
    # (surveys.authoring.scale_lines), what is sent, and the least total that reaches the cut-off.
    scored_items: models.JSONField[list[str]] = models.JSONField(default=list, blank=True)
    scored_options: models.JSONField[list[str]] = models.JSONField(default=list, blank=True)
    output = models.CharField(max_length=16, choices=Output.choices, blank=True)
    cut_off = models.IntegerField(null=True, blank=True)
    # Whether "Prefer not to say" is among the answers.
    refusal = models.BooleanField(default=False)
    # The question is asked only if this rule holds (surveys.manifest.rules). Questions are named by
    # primary key, and items of a "select several" question by "key_item".
    rule: models.JSONField[dict[str, Any] | None] = models.JSONField(null=True, blank=True)
    # The primary key of an earlier question that asks for the same fact. Like rules, this field has
    # no foreign key; surveys.authoring.rule_checks checks the value.
    same_fact = models.PositiveBigIntegerField(null=True, blank=True)
    # Whether the question shares a page with the one before it, if the two fit together
    # (surveys.manifest.grids). Otherwise, the mark has no effect.
    together = models.BooleanField(default=False)
    # A number that the editor's page draws for a new question, so that sending the form again after
    # a lost reply does not add the question twice.
    draft_key = models.CharField(max_length=36, blank=True, editable=False)

    CONTENT = tuple(QuestionContent.__annotations__)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(
                fields=["survey", "position"], name="surveys_question_position"
            ),
            models.UniqueConstraint(
                "survey",
                Lower("name"),
                condition=~models.Q(name=""),
                name="surveys_question_name",
            ),
            models.UniqueConstraint(
                fields=["survey", "draft_key"],
                condition=~models.Q(draft_key=""),
                name="surveys_question_draft_key",
            ),
            models.CheckConstraint(
                condition=models.Q(flips__gte=1, flips__lte=49),
                name="surveys_question_flips_in_range",
            ),
            models.CheckConstraint(
                condition=~models.Q(text=""), name="surveys_question_text_present"
            ),
            models.CheckConstraint(
                # Without the first two conditions, NULL < NULL would pass in SQL.
                condition=~models.Q(type__in=["number", "scale"])
                | models.Q(
                    minimum__isnull=False,
                    maximum__isnull=False,
                    minimum__lt=models.F("maximum"),
                ),
                name="surveys_question_range_not_empty",
            ),
            models.CheckConstraint(
                condition=~models.Q(type="information") | models.Q(refusal=False),
                name="surveys_question_text_without_refusal",
            ),
            models.CheckConstraint(
                condition=~models.Q(type="score") | models.Q(output__in=Output.values),
                name="surveys_question_score_has_output",
            ),
            models.CheckConstraint(
                condition=~models.Q(type="second")
                | models.Q(output__in=Output.values, same_fact__isnull=False),
                name="surveys_question_second_has_scale",
            ),
            models.CheckConstraint(
                condition=~models.Q(output=Output.CUT_OFF) | models.Q(cut_off__isnull=False),
                name="surveys_question_cut_off_present",
            ),
            # A rule would reveal the answer that it depends on, because "not asked" would be sent
            # unscrambled.
            models.CheckConstraint(
                condition=~models.Q(type="declared") | models.Q(rule__isnull=True),
                name="surveys_question_declared_without_rule",
            ),
        ]

    def __str__(self) -> str:
        return self.text

    @property
    def carrier(self) -> QuestionType:
        """The question's type in a manifest. A score has the type of its output."""
        is_score = self.type in (QuestionType.SCORE, QuestionType.SECOND)
        return CARRIERS[Output(self.output)] if is_score else QuestionType(self.type)

    @property
    def is_second(self) -> bool:
        """Whether the question is a second code of the scale that `same_fact` names."""
        return self.type == QuestionType.SECOND

    @property
    def described(self) -> TypeDescription:
        return TYPES[self.carrier]

    @property
    def has_point_shares(self) -> bool:
        """Whether the share of each point of a scale is estimated, and not only the mean."""
        return has_point_shares(self.carrier, minimum=self.minimum, maximum=self.maximum)


class Translation(models.Model):
    """A survey's texts in another language, keyed by the source texts.

    A reworded question therefore needs a new translation, and a moved answer keeps its own.
    """

    survey = models.ForeignKey(Survey, on_delete=models.CASCADE, related_name="translations")
    language = models.CharField(max_length=10, choices=LANGUAGES)
    texts: models.JSONField[dict[str, str]] = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["language"]
        constraints = [
            models.UniqueConstraint(
                fields=["survey", "language"], name="surveys_translation_language"
            ),
        ]

    def __str__(self) -> str:
        return self.get_language_display()
