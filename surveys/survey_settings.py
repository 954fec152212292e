"""What the author of a survey decides about it as a whole."""

from __future__ import annotations

from django.db import models

from surveys.manifest.languages import LANGUAGES
from surveys.manifest.manifest import (
    LEAST_RELEASE_EPSILON,
    MOST_RELEASE_DELTA,
    MOST_RELEASE_EPSILON,
    USUAL_RELEASE_DELTA,
    USUAL_RELEASE_EPSILON,
    Publication,
)

MIN_BATCH_FLOOR = 10
LOWEST_MINIMUM_AGE, HIGHEST_MINIMUM_AGE = 10, 120


class SurveySettings(models.Model):
    title = models.CharField(max_length=200)
    introduction = models.TextField(max_length=2000, blank=True)
    # Who asks, and how to reach them; one line each.
    organization = models.CharField(max_length=120, blank=True)
    contact = models.CharField(max_length=200, blank=True)
    # What a data protection officer looks for: where the privacy notice is, and who approved.
    notice_url = models.CharField(max_length=200, blank=True)
    approval = models.CharField(max_length=80, blank=True)
    # Who helps people whom the questions upset. A phone number or an address needs a name.
    help_name = models.CharField(max_length=120, blank=True)
    help_phone = models.CharField(max_length=40, blank=True)
    help_url = models.CharField(max_length=300, blank=True)
    # What people agree to before the first question. That they agreed is sent nowhere.
    consent = models.TextField(max_length=10_000, blank=True)
    minimum_age = models.PositiveSmallIntegerField(null=True, blank=True)
    # Whether several people answer on one device, so that the browser must keep no trace.
    shared_devices = models.BooleanField(default=False)
    # Whether questions offer "Prefer not to say", unless their own switch says otherwise.
    may_decline = models.BooleanField(default=False)
    minimum_batch = models.PositiveIntegerField(default=50)
    display_minimum = models.PositiveIntegerField(default=100)
    opens_at = models.DateTimeField(null=True, blank=True)
    closes_at = models.DateTimeField(null=True, blank=True)
    # From 0:00 UTC of this day on, the survey is deleted with everything that it collected.
    delete_on = models.DateField(null=True, blank=True)
    cap = models.PositiveIntegerField(null=True, blank=True)
    # How many people the author expects to answer; None if unknown.
    people_expected = models.PositiveIntegerField(null=True, blank=True)
    # The author's language. Respondents' pages use it too, unless they choose a translation.
    language = models.CharField(max_length=10, default="en", choices=LANGUAGES)
    # Shown after a code was sent.
    closing_message = models.TextField(max_length=1000, blank=True)
    # A button, or Shift three times, leaves the respondents' pages at once.
    quick_exit = models.BooleanField(default=True)
    # Whether yes/no questions may also be answered with two coins: without JavaScript, on paper.
    coins = models.BooleanField(default=False)
    # What anyone may read of the results.
    publication = models.CharField(
        max_length=16, choices=Publication.choices, default=Publication.NONE
    )
    # The most that all releases of a protected survey together may reveal about one person: ε in
    # hundredths, δ in 10⁻⁹.
    release_epsilon_hundredths = models.PositiveSmallIntegerField(default=USUAL_RELEASE_EPSILON)
    release_delta_nanos = models.PositiveSmallIntegerField(default=USUAL_RELEASE_DELTA)
    # How many blocks of questions each person is asked, drawn by the browser; None for all.
    drawn = models.PositiveSmallIntegerField(null=True, blank=True)

    # All of these, except the title and the dates, which a copy does not keep.
    SETTINGS = (
        "introduction",
        "organization",
        "contact",
        "notice_url",
        "approval",
        "help_name",
        "help_phone",
        "help_url",
        "consent",
        "minimum_age",
        "shared_devices",
        "may_decline",
        "minimum_batch",
        "display_minimum",
        "cap",
        "people_expected",
        "language",
        "closing_message",
        "quick_exit",
        "coins",
        "publication",
        "release_epsilon_hundredths",
        "release_delta_nanos",
        "drawn",
    )

    class Meta:
        abstract = True
        constraints = [
            models.CheckConstraint(
                condition=models.Q(minimum_batch__gte=MIN_BATCH_FLOOR),
                name="surveys_survey_minimum_batch_floor",
            ),
            models.CheckConstraint(
                condition=models.Q(display_minimum__gte=models.F("minimum_batch")),
                name="surveys_survey_display_minimum_at_least_batch",
            ),
            models.CheckConstraint(
                condition=models.Q(cap__isnull=True) | models.Q(cap__gte=models.F("minimum_batch")),
                name="surveys_survey_cap_reaches_a_batch",
            ),
            models.CheckConstraint(
                condition=models.Q(people_expected__isnull=True)
                | models.Q(people_expected__gte=models.F("minimum_batch")),
                name="surveys_survey_people_expected_make_a_batch",
            ),
            models.CheckConstraint(
                condition=models.Q(minimum_age__isnull=True)
                | models.Q(minimum_age__range=(LOWEST_MINIMUM_AGE, HIGHEST_MINIMUM_AGE)),
                name="surveys_survey_minimum_age_in_range",
            ),
            # Two coins can only say Yes or No.
            models.CheckConstraint(
                condition=models.Q(coins=False) | models.Q(may_decline=False),
                name="surveys_survey_coins_without_declining",
            ),
            models.CheckConstraint(
                condition=~models.Q(help_name="") | models.Q(help_phone="", help_url=""),
                name="surveys_survey_help_has_a_name",
            ),
            models.CheckConstraint(
                condition=models.Q(
                    release_epsilon_hundredths__range=(LEAST_RELEASE_EPSILON, MOST_RELEASE_EPSILON)
                ),
                name="surveys_survey_release_epsilon_in_range",
            ),
            models.CheckConstraint(
                condition=models.Q(release_delta_nanos__lte=MOST_RELEASE_DELTA),
                name="surveys_survey_release_delta_in_range",
            ),
        ]
