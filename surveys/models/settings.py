"""The settings of a whole survey, which its author chooses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from django.db import models

from surveys.manifest.languages import LANGUAGES
from surveys.manifest.manifest import (
    BATCHES_IN_CROWD,
    LEAST_RELEASE_EPSILON,
    MOST_RELEASE_DELTA,
    MOST_RELEASE_EPSILON,
    SMALLEST_USUAL_BATCH,
    USUAL_RELEASE_DELTA,
    USUAL_RELEASE_EPSILON,
    Publication,
)
from surveys.manifest.questions import REFUSED_TEXT

MIN_BATCH_FLOOR = 10
# A batch holds at most 65,536 reports, so K must stay below that. No useful K exceeds this limit.
MAX_MINIMUM_BATCH = 10_000
LOWEST_MINIMUM_AGE, HIGHEST_MINIMUM_AGE = 10, 120
MAX_PEOPLE = 100_000_000
MAX_QUESTIONS = 100
# The deletion date is at least this many days after the closing date or, without one, after the
# opening. Authors are warned this many days before the deletion date.
DAYS_BEFORE_DELETION = 7


class SurveySettings(models.Model):
    title = models.CharField(max_length=200)
    introduction = models.TextField(max_length=2000, blank=True)
    # The organization that asks, and how to reach it. Each is one line.
    organization = models.CharField(max_length=120, blank=True)
    contact = models.CharField(max_length=200, blank=True)
    # For data protection officers: the URL of the privacy notice, and the approval.
    notice_url = models.CharField(max_length=200, blank=True)
    approval = models.CharField(max_length=80, blank=True)
    # A place that helps people whom the questions upset. A phone number or an address needs a name.
    help_name = models.CharField(max_length=120, blank=True)
    help_phone = models.CharField(max_length=40, blank=True)
    help_url = models.CharField(max_length=300, blank=True)
    # What people agree to before the first question. Their agreement is not sent.
    consent = models.TextField(max_length=10_000, blank=True)
    minimum_age = models.PositiveSmallIntegerField(null=True, blank=True)
    # Whether several people answer on one device, so that the browser must keep no trace.
    shared_devices = models.BooleanField(default=False)
    # Whether pages wait for Continue after an answer, instead of continuing after one tap.
    confirm_answers = models.BooleanField(default=False)
    # Whether questions offer "Prefer not to say"; each question can override it.
    may_decline = models.BooleanField(default=False)
    minimum_batch = models.PositiveIntegerField(default=50)
    display_minimum = models.PositiveIntegerField(default=100)
    opens_at = models.DateTimeField(null=True, blank=True)
    closes_at = models.DateTimeField(null=True, blank=True)
    # On this day, from 00:00 UTC on, the survey is deleted with everything that it collected.
    delete_on = models.DateField(null=True, blank=True)
    cap = models.PositiveIntegerField(null=True, blank=True)
    # How many people the author expects to answer, or None if the author does not know.
    people_expected = models.PositiveIntegerField(null=True, blank=True)
    # The author's language. Respondents' pages use it unless respondents choose a translation.
    language = models.CharField(max_length=10, default="en", choices=LANGUAGES)
    # The message that people see after a code has been sent.
    closing_message = models.TextField(max_length=1000, blank=True)
    # Whether a button, or Shift pressed three times, leaves the respondents' pages immediately.
    quick_exit = models.BooleanField(default=True)
    # Whether yes/no questions may also be answered with two coins, without JavaScript or on paper.
    coins = models.BooleanField(default=False)
    # The results that anyone may read.
    publication = models.CharField(
        max_length=16, choices=Publication.choices, default=Publication.NONE
    )
    # Limits on the information that all releases together may reveal about one person, for
    # protected publication: ε in hundredths, δ in units of 10⁻⁹.
    release_epsilon_hundredths = models.PositiveSmallIntegerField(default=USUAL_RELEASE_EPSILON)
    release_delta_nanos = models.PositiveSmallIntegerField(default=USUAL_RELEASE_DELTA)
    # Whether a random half of the batches stays sealed after the close, until claims are tested.
    sealed_half = models.BooleanField(default=False)
    # How many blocks of questions the browser draws for each person, or None to ask all blocks.
    drawn = models.PositiveSmallIntegerField(null=True, blank=True)

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


SETTING_NAMES = tuple(field.name for field in SurveySettings._meta.local_fields)


# fmt: off
Card = Literal[
    "text", "who", "help", "consent", "dates", "deletion", "people",
    "declining", "subset", "pages", "half", "crowd",
]
# fmt: on


class SettingsPage(models.TextChoices):
    """The pages of a draft's settings, in order. The privacy page also asks what is public."""

    TEXT = "text", "Text and language"
    WHO = "who", "Who asks, consent, help"
    TIME = "time", "Start and end"
    PRIVACY = "privacy", "Privacy"
    SPECIAL = "special", "Special cases"


SETTINGS_PAGES: Mapping[SettingsPage, tuple[Card, ...]] = {
    SettingsPage.TEXT: ("text",),
    SettingsPage.WHO: ("who", "help", "consent"),
    SettingsPage.TIME: ("dates", "people", "deletion"),
    SettingsPage.PRIVACY: ("declining", "subset"),
    SettingsPage.SPECIAL: ("pages", "half", "crowd"),
}


@dataclass(frozen=True, kw_only=True)
class Setting:
    """The details of a setting that its model field lacks: its texts and its place on the page.

    `card` is the group of fields that contains the setting; `SETTINGS_PAGES` gives the page of each
    group. `noun` is what error messages call the text that authors enter. `more` is help that opens
    in a disclosure.
    """

    card: Card
    label: str
    help_text: str = ""
    more: str = ""
    noun: str = ""
    kind: Literal["", "url", "tel"] = ""
    limits: tuple[int, int] = (0, 0)
    is_copied: bool = True
    # Whether pages list its frozen value under this label, instead of describing it in other words.
    is_listed: bool = True


# Pages show their settings in this order. The settings of publication are in a separate form.
SETTINGS: Mapping[str, Setting] = {
    "title": Setting(
        card="text",
        label="Title",
        help_text="Respondents see it at the top of the first page.",
        is_copied=False,
        is_listed=False,
    ),
    "introduction": Setting(
        card="text",
        label="Introduction",
        help_text="Say why you ask and what happens with the results. Plain text.",
        is_listed=False,
    ),
    "closing_message": Setting(
        card="text",
        label="Closing message",
        help_text="People see it after they have sent their answers. Say where the results will "
        "be. Plain text.",
    ),
    "language": Setting(
        card="text",
        label="Language of the survey",
        help_text="The language you write in, which respondents’ pages also use. You add "
        "translations on a separate page.",
        is_listed=False,
    ),
    "organization": Setting(
        card="who",
        label="Your organization",
        help_text="People read it above the title.",
    ),
    "contact": Setting(
        card="who",
        label="Contact for questions",
        help_text="Email address or phone number, shown on every page.",
    ),
    "notice_url": Setting(
        card="who",
        label="Address of your privacy notice",
        help_text="An https:// address without ? or #.",
        noun="web address",
        kind="url",
    ),
    "approval": Setting(
        card="who",
        label="Ethics or approval number",
        help_text="As written by your ethics committee.",
        noun="number",
        is_copied=False,  # the approval is for the original study
    ),
    "help_name": Setting(
        card="help",
        label="Who helps",
        help_text="A helpline in case questions upset people, shown on every page.",
        noun="name",
    ),
    "help_phone": Setting(
        card="help",
        label="Their phone number",
        help_text="One number, such as 112.",
        noun="phone number",
        kind="tel",
    ),
    "help_url": Setting(
        card="help",
        label="Their web address",
        help_text="An https:// address without ? or #.",
        noun="web address",
        kind="url",
    ),
    "consent": Setting(
        card="consent",
        label="What people agree to",
        help_text="People read it after “Start”, tick “I have read this and I agree” and go on. "
        "Nothing about that is sent or stored. Plain text.",
        noun="text",
        is_listed=False,
    ),
    "minimum_age": Setting(
        card="consent",
        label="Minimum age in years",
        help_text="People tick that they are at least this old. Nothing about that is sent or "
        "stored.",
        limits=(LOWEST_MINIMUM_AGE, HIGHEST_MINIMUM_AGE),
    ),
    "quick_exit": Setting(
        card="pages",
        label="Let people leave quickly",
        help_text="A button clears the answers and opens a neutral page.",
        more="Use it if someone might be watching. The button is called “Exit this page”. Pressing "
        "Shift three times does the same. Tabs and the browser’s history show only the word "
        "“Survey”.",
    ),
    "may_decline": Setting(
        card="declining",
        label="Let people decline to answer",
        help_text=f"Questions offer “{REFUSED_TEXT}”. You can change that for each question.",
    ),
    "coins": Setting(
        card="pages",
        label="Let people answer with two coins",
        help_text="For paper and browsers without JavaScript. Reports made with coins have "
        "separate results.",
        more="People toss two coins for each yes/no question. This protects as strongly as 25 "
        "flips of 100. They are not asked other types of questions, nor any with “prefer not to "
        "say” or with a rule.",
    ),
    "confirm_answers": Setting(
        card="pages",
        label="Let people confirm each answer",
        help_text="Otherwise, one tap answers and shows the next question. Each person can choose.",
    ),
    "shared_devices": Setting(
        card="pages",
        label="Several people answer on one device",
        help_text="After the last page, the survey starts again for the next person.",
        more="Use it if an interviewer hands over the device, for example. Once a code is sent, "
        "the survey keeps nothing in the browser, so the browser cannot tell who has answered.",
    ),
    "opens_at": Setting(
        card="dates",
        label="Opening date",
        help_text="In UTC. Leave it empty to accept reports as soon as you open the survey.",
        is_copied=False,  # like the other dates, it may have passed
    ),
    "closes_at": Setting(
        card="dates",
        label="Closing date",
        help_text="In UTC. Leave it empty to close the survey by hand.",
        is_copied=False,
    ),
    "cap": Setting(
        card="dates",
        label="Close when this many people have answered",
        help_text="If results need more people than this, the survey has no exact results.",
        limits=(MIN_BATCH_FLOOR, MAX_PEOPLE),
        is_listed=False,
    ),
    "delete_on": Setting(
        card="deletion",
        label="Deletion date",
        help_text="At 00:00 UTC on this day, the survey is deleted with all that it collected.",
        more="If it is still open, it closes then. Respondents are told this day, so nobody can "
        "change it after the opening. You can delete the survey earlier. In the last "
        f"{DAYS_BEFORE_DELETION} days, the survey’s pages warn you, and you get an email if this "
        "server sends any.",
        is_copied=False,
    ),
    "people_expected": Setting(
        card="people",
        label="How many people do you expect to answer?",
        help_text="Each question then says how precise its result will be.",
        more="Results are updated whenever at least a tenth of this number of reports is new, and "
        "at the close. If far fewer people answer, nothing is shown until the close. "
        "Margins of error shown before the close suit this number best, but hold for any number.",
        limits=(MIN_BATCH_FLOOR, MAX_PEOPLE),
    ),
    "minimum_batch": Setting(
        card="crowd",
        label="Minimum batch K",
        help_text="Reports are counted only in sealed batches of at least K.",
        more="Results change only when at least K reports, and a tenth of all reports, are new, "
        "and once more at the close. While the survey is open, K reports are kept back, so that "
        "the last batch is also full. The first batch is therefore sealed once 2 × K reports have "
        "arrived. K counts reports, not honest people: someone who floods the survey with made-up "
        f"reports shrinks the crowd that a person hides in. With a K of {SMALLEST_USUAL_BATCH}, "
        f"singling one person out takes at least {SMALLEST_USUAL_BATCH - 1} made-up reports. With "
        "a smaller K, you must acknowledge the risk when you open the survey. A batch of fewer "
        f"than {MIN_BATCH_FLOOR} protects nobody.",
        limits=(MIN_BATCH_FLOOR, MAX_MINIMUM_BATCH),
    ),
    "display_minimum": Setting(
        card="crowd",
        label="Fewest reports for results",
        help_text=f"Results need this many reports, and at least {BATCHES_IN_CROWD} × K.",
        limits=(MIN_BATCH_FLOOR, MAX_PEOPLE),
        is_listed=False,
    ),
    "sealed_half": Setting(
        card="half",
        label="Keep a random half sealed",
        help_text="After the close, you explore one half. The other half tests your claims once.",
        more="You write down up to ten claims. Then all claims are tested on the half that nobody "
        "has seen, and each is confirmed or not. Until then, nothing shows the sealed half. "
        "Results start at the close; background questions and rows wait for the test. You need a "
        "few thousand people, because each half needs enough.",
    ),
    "drawn": Setting(
        card="subset",
        label="Questions per person (random subset), in blocks",
        help_text="Leave it empty to ask everyone everything.",
        limits=(1, MAX_QUESTIONS),
    ),
}


def list_setting_names(page: SettingsPage | None) -> tuple[str, ...]:
    """List the fields of a page, or the fields of all pages for None."""
    return tuple(name for name in SETTING_NAMES if page is None or find_page(name) == page)


def find_page(name: str) -> SettingsPage:
    if name not in SETTINGS:  # the settings of publication
        return SettingsPage.PRIVACY
    card = SETTINGS[name].card
    return next(page for page, cards in SETTINGS_PAGES.items() if card in cards)
