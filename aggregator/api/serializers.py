"""The shapes of the API's answers; the published schema is made from these."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from aggregator.results.estimands import Among
from aggregator.results.results import DeclaredResult, Estimate, QuestionResult, Results
from aggregator.results.sentences import FAKE_SHARE, INTERVALS, describe_estimate

METHODS = tuple(INTERVALS)
# The same words as the marks on the pages.
STATES = ("draft", "scheduled", "open", "closed")


class SurveySerializer(serializers.Serializer[Any]):
    """A SurveyLine; `sealed` grows only when a batch is sealed."""

    slug = serializers.CharField()
    title = serializers.CharField()
    state = serializers.ChoiceField(choices=STATES, source="state.key")
    ending = serializers.CharField(help_text="date, cap or owner once closed; empty before")
    questions = serializers.IntegerField(help_text="number of questions")
    sealed = serializers.IntegerField(help_text="sealed reports")
    opens_at = serializers.DateTimeField(allow_null=True)
    closes_at = serializers.DateTimeField(allow_null=True)
    cap = serializers.IntegerField(allow_null=True)
    demo = serializers.BooleanField()


class InnerIntervalSerializer(serializers.Serializer[dict[str, Any]]):
    """A narrower interval inside the main one, which covers less reliably at small n."""

    level = serializers.FloatField()
    low = serializers.FloatField()
    high = serializers.FloatField()


class EstimateSerializer(serializers.Serializer[dict[str, Any]]):
    """One share or mean. Shares are fractions; the estimate is not clipped to what can be."""

    estimand = serializers.CharField(
        help_text="a code, an item, mean, yes, follow_up, refused or asked"
    )
    kind = serializers.ChoiceField(choices=("share", "mean"))
    text = serializers.CharField()
    of = serializers.ChoiceField(choices=tuple(Among), help_text="whom the share or mean is of")
    unit = serializers.CharField(allow_blank=True)
    symbol = serializers.CharField(help_text="the column of reports.csv it is estimated from")
    count = serializers.IntegerField(help_text="reports that show it")
    raw_share = serializers.FloatField(help_text="share of reports that show it")
    estimate = serializers.FloatField(
        allow_null=True, help_text="unclipped; null where nobody seems to have answered"
    )
    joint_estimate = serializers.FloatField(
        allow_null=True,
        help_text="most likely share if all shares of the symbol lie in [0, 1]; null for ratios",
    )
    standard_error = serializers.FloatField(allow_null=True)
    interval_method = serializers.ChoiceField(
        choices=METHODS,
        help_text=(
            "confidence_sequence and dirichlet_sequence hold at every look; the others because "
            "the end was fixed in advance"
        ),
    )
    interval_low = serializers.FloatField()
    interval_high = serializers.FloatField()
    inner_intervals = InnerIntervalSerializer(many=True)
    simultaneous_method = serializers.ChoiceField(choices=METHODS)
    simultaneous_low = serializers.FloatField(help_text="holds for all estimates shown at once")
    simultaneous_high = serializers.FloatField()
    fake_2_percent_low = serializers.FloatField(
        allow_null=True, help_text="the interval if 2 % of the reports were invented"
    )
    fake_2_percent_high = serializers.FloatField(allow_null=True)
    effective_sample_size = serializers.FloatField(
        allow_null=True, help_text="direct answers that would inform as much; null outside (0, 1)"
    )
    status = serializers.ChoiceField(choices=("ok", "outside_0_1", "contradiction", "alarm"))
    sentence = serializers.CharField(help_text="the finding in words")


class QuestionSerializer(serializers.Serializer[dict[str, Any]]):
    name = serializers.CharField()
    type = serializers.CharField()
    text = serializers.CharField()
    k = serializers.IntegerField(help_text="codes of the question's symbol, or of each item's")
    threshold = serializers.IntegerField(help_text="keep threshold out of 2**32")
    epsilon = serializers.FloatField(help_text="of the question by itself, in nats, rounded up")
    statement_epsilon = serializers.FloatField(
        help_text="with all questions that depend on its answer"
    )
    n = serializers.IntegerField(help_text="reports in which it was asked")
    level = serializers.FloatField(help_text="of each interval")
    simultaneous_level = serializers.FloatField(
        help_text="of each interval, so that all hold at once"
    )
    alarm = serializers.BooleanField(
        help_text="the design could not plausibly have produced these codes, at any look"
    )
    estimates = EstimateSerializer(
        many=True, help_text="none while fewer were asked than the display minimum"
    )


class GroupSerializer(serializers.Serializer[dict[str, Any]]):
    code = serializers.IntegerField()
    text = serializers.CharField()
    n = serializers.IntegerField(allow_null=True, help_text="null where the group is too small")


class DeclaredSerializer(serializers.Serializer[dict[str, Any]]):
    """A question that is not scrambled: its answers are sent as they are."""

    name = serializers.CharField()
    text = serializers.CharField()
    groups = GroupSerializer(many=True)


class ResultsSerializer(serializers.Serializer[dict[str, Any]]):
    """The newest snapshot: it changes only when a batch is sealed."""

    survey = serializers.CharField()
    wave = serializers.IntegerField()
    state = serializers.ChoiceField(choices=("open", "closed"))
    ending = serializers.CharField()
    manifest_sha256 = serializers.CharField()
    epsilon = serializers.FloatField(help_text="largest sum that one person can be asked")
    minimum_batch = serializers.IntegerField()
    display_minimum = serializers.IntegerField()
    through_batch = serializers.IntegerField()
    final = serializers.BooleanField()
    method_version = serializers.IntegerField()
    day = serializers.DateField()
    n = serializers.IntegerField()
    drawn = serializers.IntegerField(
        allow_null=True, help_text="blocks of questions each person is asked; null for all"
    )
    questions = QuestionSerializer(many=True)
    declared = DeclaredSerializer(many=True)


class ProblemSerializer(serializers.Serializer[dict[str, Any]]):
    """An error (RFC 9457); `type` is one of the reasons listed at /problems."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()


class ReportSerializer(serializers.Serializer[dict[str, Any]]):
    """One randomized report; these four members in this order, without spaces."""

    format = serializers.IntegerField(help_text="1")
    manifest = serializers.CharField(help_text="SHA-256 of the manifest, unpadded base64url")
    id = serializers.CharField(help_text="32 random bytes, unpadded base64url")
    symbols = serializers.CharField(
        help_text="one base64url character per symbol, ~ where it was not drawn"
    )


class ReceiptSerializer(serializers.Serializer[dict[str, Any]]):
    status = serializers.ChoiceField(choices=("recorded", "already-recorded"))


def describe_results(results: Results) -> dict[str, Any]:
    """Put a snapshot into the shape of ResultsSerializer."""
    wave, snapshot, manifest = results.wave, results.snapshot, results.manifest
    return {
        "survey": manifest.survey,
        "wave": wave.number,
        "state": wave.state,
        "ending": wave.ending,
        "manifest_sha256": wave.manifest_hash_hex,
        "epsilon": manifest.epsilon,
        "minimum_batch": wave.minimum_batch,
        "display_minimum": wave.display_minimum,
        "through_batch": snapshot.through_batch,
        "final": snapshot.final,
        "method_version": snapshot.method_version,
        "day": snapshot.day,
        "n": snapshot.total,
        "drawn": manifest.drawn,
        "questions": [_describe_question(results, question) for question in results.questions],
        "declared": [_describe_declared(declared) for declared in results.declared],
    }


def _describe_question(results: Results, result: QuestionResult) -> dict[str, Any]:
    question = result.question
    return {
        "name": question.name,
        "type": question.type,
        "text": question.text,
        "k": question.k,
        "threshold": question.threshold,
        "epsilon": question.epsilon,
        "statement_epsilon": results.manifest.statement_epsilon(question),
        "n": result.total,
        "level": result.level,
        "simultaneous_level": result.simultaneous_level,
        "alarm": result.alarm,
        "estimates": [_describe_estimate(result, found) for found in result.estimates],
    }


def _describe_estimate(result: QuestionResult, found: Estimate) -> dict[str, Any]:
    band = result.band(found, fake_share=FAKE_SHARE)
    return {
        "estimand": found.estimand.name,
        "kind": found.estimand.kind,
        "text": found.estimand.text,
        "of": found.estimand.of,
        "unit": result.question.unit if found.is_mean else "",
        "symbol": found.estimand.symbol,
        "count": found.count,
        "raw_share": found.raw_share,
        "estimate": found.estimate,
        "joint_estimate": found.joint_estimate,
        "standard_error": found.standard_error,
        "interval_method": found.method,
        "interval_low": found.low,
        "interval_high": found.high,
        "inner_intervals": [vars(inner) for inner in found.inner_intervals],
        "simultaneous_method": found.simultaneous_method,
        "simultaneous_low": found.simultaneous_low,
        "simultaneous_high": found.simultaneous_high,
        "fake_2_percent_low": None if band is None else band.low,
        "fake_2_percent_high": None if band is None else band.high,
        "effective_sample_size": found.effective_sample_size,
        "status": result.status_of(found).value,
        "sentence": describe_estimate(result, found),
    }


def _describe_declared(declared: DeclaredResult) -> dict[str, Any]:
    return {
        "name": declared.question.name,
        "text": declared.question.text,
        "groups": [
            {"code": group.code, "text": group.text, "n": group.count} for group in declared.groups
        ],
    }
