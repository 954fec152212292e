"""The shapes of the API's answers; the published schema is made from these."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from aggregator.results import CodeResult, QuestionResult, Results
from aggregator.wording import FAKE_SHARE, describe_share

METHODS = ("confidence_sequence", "likelihood_ratio", "clopper_pearson")
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


class GuideSerializer(serializers.Serializer[dict[str, Any]]):
    """A narrower interval inside the main one, as a guide."""

    level = serializers.FloatField()
    low = serializers.FloatField()
    high = serializers.FloatField()


class ShareSerializer(serializers.Serializer[dict[str, Any]]):
    """One option. Shares are fractions; the estimate is not clipped to [0, 1]."""

    code = serializers.IntegerField()
    text = serializers.CharField()
    count = serializers.IntegerField(help_text="reports that show this code")
    raw_share = serializers.FloatField(help_text="share of reports that show this code")
    estimate = serializers.FloatField(help_text="estimated share of people, unclipped")
    joint_estimate = serializers.FloatField(
        help_text="most likely share if all shares of the question lie in [0, 1]"
    )
    standard_error = serializers.FloatField()
    interval_low = serializers.FloatField()
    interval_high = serializers.FloatField()
    guides = GuideSerializer(many=True)
    together_low = serializers.FloatField(help_text="holds for all shares shown at once")
    together_high = serializers.FloatField()
    fake_2_percent_low = serializers.FloatField(
        help_text="the interval if 2 % of the reports were invented"
    )
    fake_2_percent_high = serializers.FloatField()
    effective_n = serializers.FloatField(
        allow_null=True, help_text="direct answers that would inform as much; null outside (0, 1)"
    )
    status = serializers.ChoiceField(choices=("ok", "outside_0_1", "contradiction", "alarm"))
    sentence = serializers.CharField(help_text="the finding in words")


class QuestionSerializer(serializers.Serializer[dict[str, Any]]):
    name = serializers.CharField()
    text = serializers.CharField()
    k = serializers.IntegerField(help_text="number of options")
    threshold = serializers.IntegerField(help_text="keep threshold out of 2**32")
    epsilon = serializers.FloatField(help_text="in nats, rounded up")
    n = serializers.IntegerField()
    interval_method = serializers.ChoiceField(
        choices=METHODS,
        help_text=(
            "confidence_sequence: valid while you watch; likelihood_ratio and clopper_pearson "
            "(guaranteed): valid because the end was fixed in advance"
        ),
    )
    interval_level = serializers.FloatField()
    together_method = serializers.ChoiceField(choices=METHODS)
    together_level = serializers.FloatField(help_text="of each interval, so that all hold at once")
    contradiction = serializers.BooleanField(
        help_text="no share agrees with the codes at the interval's level"
    )
    alarm = serializers.BooleanField(
        help_text="the design could not plausibly have produced these codes, at any look"
    )
    shares = ShareSerializer(many=True)


class ResultsSerializer(serializers.Serializer[dict[str, Any]]):
    """The newest snapshot: it changes only when a batch is sealed."""

    survey = serializers.CharField()
    wave = serializers.IntegerField()
    state = serializers.ChoiceField(choices=("open", "closed"))
    ending = serializers.CharField()
    manifest_sha256 = serializers.CharField()
    epsilon = serializers.FloatField(help_text="sum over all questions")
    minimum_batch = serializers.IntegerField()
    display_minimum = serializers.IntegerField()
    through_batch = serializers.IntegerField()
    final = serializers.BooleanField()
    method_version = serializers.IntegerField()
    day = serializers.DateField()
    n = serializers.IntegerField()
    questions = QuestionSerializer(many=True)


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
    symbols = serializers.CharField(help_text="one base64url character per question")


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
        "questions": [_describe_question(question) for question in results.questions],
    }


def _describe_question(result: QuestionResult) -> dict[str, Any]:
    question = result.question
    return {
        "name": question.name,
        "text": question.text,
        "k": question.k,
        "threshold": question.threshold,
        "epsilon": question.mechanism.epsilon,
        "n": result.total,
        "interval_method": result.interval_method,
        "interval_level": result.interval_level,
        "together_method": result.together_method,
        "together_level": result.together_level,
        "contradiction": result.contradiction,
        "alarm": result.alarm,
        "shares": [_describe_share(result, code) for code in result.codes],
    }


def _describe_share(result: QuestionResult, code: CodeResult) -> dict[str, Any]:
    band = result.band(code, fake_share=FAKE_SHARE)
    return {
        "code": code.code,
        "text": code.text,
        "count": code.count,
        "raw_share": code.raw_share,
        "estimate": code.estimate,
        "joint_estimate": code.joint_estimate,
        "standard_error": code.standard_error,
        "interval_low": code.low,
        "interval_high": code.high,
        "guides": [vars(guide) for guide in code.guides],
        "together_low": code.together_low,
        "together_high": code.together_high,
        "fake_2_percent_low": band.low,
        "fake_2_percent_high": band.high,
        "effective_n": code.effective_total,
        "status": result.status_of(code).value,
        "sentence": describe_share(result, code),
    }
