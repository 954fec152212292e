"""The format of the API's responses; the published schema is generated from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from rest_framework import serializers

from aggregator.problems import Problem
from aggregator.results.display import DeclaredResult, GroupResult, Results
from aggregator.results.estimands import Among, EstimandKind
from aggregator.results.estimate import Estimate, Interval, QuestionResult, Status
from aggregator.results.reliability import Reliability
from aggregator.results.sentences import ANCHORS, describe_estimate

METHODS = tuple(ANCHORS)
NAME = (
    "its name in files, such as used_cannabis; q1, q2, … in surveys opened before variables existed"
)
# The tags on the pages use the same words.
STATES = ("draft", "scheduled", "open", "closed")


class SurveySerializer(serializers.Serializer[Any]):
    """A survey and its progress; `sealed` grows only at a look."""

    slug = serializers.CharField()
    title = serializers.CharField()
    state = serializers.ChoiceField(choices=STATES, source="state.key")
    ending = serializers.CharField(
        help_text="why the survey closed: date, cap or owner; empty until then"
    )
    questions = serializers.IntegerField(help_text="number of questions")
    sealed = serializers.IntegerField(help_text="sealed reports counted at the last look")
    opens_at = serializers.DateTimeField(allow_null=True)
    closes_at = serializers.DateTimeField(allow_null=True)
    delete_on = serializers.DateField(
        allow_null=True, help_text="on this day, from 00:00 UTC on, everything is deleted"
    )
    cap = serializers.IntegerField(allow_null=True)
    demo = serializers.BooleanField()
    rehearsal = serializers.BooleanField(help_text="all answers are invented")


class IntervalSerializer(serializers.Serializer[Interval]):
    """A narrower interval inside the main one; it covers less reliably at small n."""

    level = serializers.FloatField()
    low = serializers.FloatField()
    high = serializers.FloatField()


class EstimateSerializer(serializers.Serializer[Estimate]):
    """One share or mean. Shares are fractions; estimates are not clipped to the possible range."""

    estimand = serializers.CharField(
        source="estimand.name", help_text="a code, an item, mean, yes, follow_up, refused or asked"
    )
    kind = serializers.ChoiceField(source="estimand.kind", choices=tuple(EstimandKind))
    text = serializers.CharField(source="estimand.text")
    of = serializers.ChoiceField(
        source="estimand.of",
        choices=tuple(Among),
        help_text="the group that the share or mean describes",
    )
    unit = serializers.CharField(allow_blank=True)
    symbol = serializers.SerializerMethodField(
        help_text="the symbol it is estimated from; codebook.csv names its column in reports.csv",
    )
    count = serializers.IntegerField(help_text="reports that show it")
    raw_share = serializers.FloatField(help_text="share of reports that show it")
    estimate = serializers.FloatField(
        source="value",
        allow_null=True,
        help_text="unclipped; null where no one seems to have answered",
    )
    joint_estimate = serializers.FloatField(
        source="joint_value",
        allow_null=True,
        help_text="most likely share if all shares of the symbol lie in [0, 1]; null for ratios",
    )
    standard_error = serializers.FloatField(allow_null=True)
    interval_method = serializers.ChoiceField(
        source="method",
        choices=METHODS,
        help_text="kind of interval, at the level given by critical_value",
    )
    critical_value = serializers.FloatField(
        allow_null=True,
        help_text="standard errors to either side: 1.96 for one look, more for all looks together "
        "and where few codes are swapped",
    )
    interval_low = serializers.FloatField(source="low")
    interval_high = serializers.FloatField(source="high")
    inner_intervals = IntervalSerializer(
        source="intervals.inner",
        many=True,
        help_text="empty where the interval holds for all looks together",
    )
    simultaneous_method = serializers.ChoiceField(
        source="intervals.simultaneous.method", choices=METHODS
    )
    simultaneous_low = serializers.FloatField(
        source="intervals.simultaneous.low", help_text="holds for all estimates shown at once"
    )
    simultaneous_high = serializers.FloatField(source="intervals.simultaneous.high")
    fake_2_percent_low = serializers.FloatField(
        source="fake_band.low",
        allow_null=True,
        help_text="the interval if 2 % of the reports were invented",
    )
    fake_2_percent_high = serializers.FloatField(source="fake_band.high", allow_null=True)
    effective_sample_size = serializers.FloatField(
        allow_null=True,
        help_text="number of direct answers that carry as much information; null outside (0, 1)",
    )
    reliability = serializers.ChoiceField(
        choices=tuple(Reliability), help_text="whether it is precise enough to publish, or to show"
    )
    status = serializers.ChoiceField(choices=tuple(Status))
    sentence = serializers.SerializerMethodField(help_text="the estimate in words")

    def get_symbol(self, estimate: Estimate) -> str:
        return estimate.estimand.question.name_in_files(estimate.estimand.symbol)

    def get_sentence(self, estimate: Estimate) -> str:
        return describe_estimate(estimate)


class QuestionSerializer(serializers.Serializer[QuestionResult]):
    name = serializers.CharField(source="question.variable", help_text=NAME)
    type = serializers.CharField(source="question.type")
    text = serializers.CharField(source="question.full_text")
    k = serializers.IntegerField(
        source="question.k",
        help_text="number of codes of the question's symbol, or of each item's symbol",
    )
    threshold = serializers.IntegerField(
        source="question.threshold", help_text="keep threshold out of 2**32"
    )
    epsilon = serializers.FloatField(
        source="question.epsilon", help_text="ε of the question alone, in nats, rounded up"
    )
    statement_epsilon = serializers.SerializerMethodField(
        help_text="ε with all questions that depend on its answer"
    )
    n = serializers.IntegerField(
        allow_null=True,
        help_text="number of reports in which it was asked; null while there are fewer than "
        "results need",
    )
    level = serializers.FloatField(help_text="confidence level of each interval")
    simultaneous_level = serializers.FloatField(
        help_text="level of each simultaneous interval, so that all hold at once"
    )
    alarm = serializers.BooleanField(
        help_text="true if chance alone produces such codes in fewer than 1 in 100 surveys"
    )
    estimates = EstimateSerializer(
        many=True, help_text="empty while fewer people were asked than results need"
    )

    def get_statement_epsilon(self, result: QuestionResult) -> float:
        return cast(Results, self.root.instance).manifest.statement_epsilon(result.question)


class GroupSerializer(serializers.Serializer[GroupResult]):
    code = serializers.IntegerField()
    text = serializers.CharField()
    n = serializers.IntegerField(
        source="count", allow_null=True, help_text="null where the group is too small"
    )


class DeclaredSerializer(serializers.Serializer[DeclaredResult]):
    """A question that is not scrambled, whose answers are sent as they are."""

    name = serializers.CharField(source="question.variable", help_text=NAME)
    text = serializers.CharField(source="question.text")
    groups = GroupSerializer(many=True)


class ResultsSerializer(serializers.Serializer[Results]):
    """The newest snapshot, which changes only at a look and when the survey closes."""

    survey = serializers.CharField(source="manifest.survey")
    wave = serializers.IntegerField(source="wave.number")
    rehearsal = serializers.BooleanField(
        source="wave.survey.rehearsal", help_text="all answers are invented"
    )
    state = serializers.ChoiceField(source="wave.state", choices=("open", "closed"))
    ending = serializers.CharField(source="wave.ending")
    manifest_sha256 = serializers.CharField(source="wave.manifest_hash_hex")
    epsilon = serializers.FloatField(
        source="manifest.epsilon",
        help_text="largest total ε of the questions that one person can be asked",
    )
    minimum_batch = serializers.IntegerField(source="wave.minimum_batch")
    display_minimum = serializers.IntegerField(source="wave.display_minimum")
    through_batch = serializers.IntegerField(
        source="snapshot.through_batch", help_text="the batch of the newest look"
    )
    final = serializers.BooleanField(source="snapshot.final")
    method_version = serializers.IntegerField(source="snapshot.method_version")
    day = serializers.DateField(source="snapshot.day")
    n = serializers.IntegerField(source="snapshot.total")
    burst_reports = serializers.IntegerField(
        source="count_burst_reports",
        help_text="at least this many of the n reports came within seconds of many others",
    )
    drawn = serializers.IntegerField(
        source="manifest.drawn",
        allow_null=True,
        help_text="number of blocks of questions that each person is asked; null for all",
    )
    questions = QuestionSerializer(many=True)
    declared = DeclaredSerializer(
        many=True,
        help_text="empty until the survey has closed and all its reports are counted",
    )


class ProblemSerializer(serializers.Serializer[Problem]):
    """An error (RFC 9457); `type` is one of the reasons listed at /problems."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()


class DefinitionErrorSerializer(serializers.Serializer[Any]):
    pointer = serializers.CharField(help_text="JSON pointer (RFC 6901) into the definition")
    detail = serializers.CharField(help_text="what is wrong and what to do, in words")


class DefinitionProblemSerializer(ProblemSerializer):
    """All problems of a definition."""

    errors = DefinitionErrorSerializer(many=True)  # type: ignore[assignment]


class ValidDefinitionSerializer(serializers.Serializer[Any]):
    """A definition that could be imported as it is."""

    title = serializers.CharField()
    questions = serializers.IntegerField(help_text="number of questions and information texts")


class CreatedSerializer(serializers.Serializer[Any]):
    """A draft that was created; Location is the address of its definition."""

    slug = serializers.CharField()
    title = serializers.CharField()


class ReportSerializer(serializers.Serializer[Mapping[str, object]]):
    """One randomized report, with these four members in this order and without spaces."""

    format = serializers.IntegerField(help_text="1")
    manifest = serializers.CharField(help_text="SHA-256 of the manifest, unpadded base64url")
    id = serializers.CharField(help_text="32 random bytes, unpadded base64url")
    symbols = serializers.CharField(
        help_text="one base64url character per symbol, ~ where it was not drawn"
    )


class ReceiptSerializer(serializers.Serializer[Mapping[str, object]]):
    status = serializers.ChoiceField(choices=("recorded", "already-recorded"))
