"""What authors may type, and what they read if it is invalid."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from surveys.authoring.forms import CreateForm, SettingsForm, YesNoForm
from surveys.manifest.manifest import BATCHES_IN_CROWD

CAP = "Enter the cap as a number from 0.10 to 3.00."
DELTA = "Enter a whole number from 0 to 1,000."
PROTECTED = {"publication": "protected", "release_epsilon": "1.00", "release_delta_nanos": "1000"}
GOOD_QUESTION = {"text": "Have you ever driven after drinking?", "flips": "25"}


def in_days(days: float) -> str:
    return (timezone.now() + timedelta(days=days)).strftime("%Y-%m-%dT%H:%M")


def settings_form(**changes: object) -> SettingsForm:
    return SettingsForm(
        {
            "title": "On the road",
            "introduction": "",
            "language": "en",
            "publication": "none",
            "minimum_batch": "50",
            "display_minimum": "100",
            "opens_at": "",
            "closes_at": "",
            "cap": "",
            **changes,
        }
    )


def question_form(**changes: object) -> YesNoForm:
    return YesNoForm({**GOOD_QUESTION, **changes})


def only_error(form: Any, field: str) -> str:
    """Return the only error of the form, which must belong to this field."""
    assert list(form.errors) == [field]
    (error,) = form.errors[field]
    return str(error)


def test_a_good_question_passes_unchanged() -> None:
    form = question_form()
    assert form.is_valid()
    assert form.cleaned_data == {
        "text": GOOD_QUESTION["text"],
        "flips": 25,
        "refusal": False,
        "together": False,
        "rule": None,
        "name": "",
        "short_label": "",
    }


@pytest.mark.parametrize("text", ["", "   ", "\n\t \r\n", "\u00a0\u2003", "\u200b\u2060", "\ufeff"])
def test_a_question_without_visible_text_is_refused(text: str) -> None:
    assert only_error(question_form(text=text), "text") == "Enter the question."


def test_a_question_may_be_a_thousand_characters_long() -> None:
    assert question_form(text="ä" * 1000).is_valid()


@pytest.mark.parametrize("length", [1001, 5000])
def test_a_longer_question_is_kept_and_refused(length: int) -> None:
    form = question_form(text="ä" * length)
    message = only_error(form, "text")
    assert message == f"The question has {length} characters. Shorten it to 1000 or fewer."
    assert "ä" * length in str(form["text"])
    assert "maxlength" not in str(form["text"])


@pytest.mark.parametrize("character", ["\x00", "\x07", "\x1b", "\x7f", "\x85", "\ud800"])
def test_control_characters_are_refused(character: str) -> None:
    message = only_error(question_form(text=f"Yes{character}or no?"), "text")
    assert "invisible control character" in message
    form = CreateForm({"title": f"A{character}.", "introduction": f"B{character}."})
    assert set(form.errors) == {"title", "introduction"}


@pytest.mark.parametrize("character", [*"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"])
def test_characters_that_reorder_a_text_are_refused(character: str) -> None:
    message = only_error(question_form(text=f"Yes{character}or no?"), "text")
    assert "changes the order of the text" in message
    form = CreateForm({"title": f"A{character}.", "introduction": f"B{character}."})
    assert set(form.errors) == {"title", "introduction"}


@pytest.mark.parametrize("mark", [*"\u200c\u200d\u200e\u200f\u061c"])
def test_marks_and_joiners_that_languages_need_are_accepted(mark: str) -> None:
    assert question_form(text=f"هل{mark}تقود؟").is_valid()


@pytest.mark.parametrize(
    "text", ["<b>Bold?</b>", "“Quotes” & 'more'", "日本語ですか？", "👩‍👩‍👧?", "=1+1"]
)
def test_anything_that_people_write_is_accepted_as_text(text: str) -> None:
    form = question_form(text=text)
    assert form.is_valid()
    assert form.cleaned_data["text"] == text


def test_line_breaks_stay_in_the_introduction_and_become_spaces_elsewhere() -> None:
    form = CreateForm({"title": "On\r\nthe road", "introduction": "One\r\n\r\nTwo\rThree"})
    assert form.is_valid()
    assert form.cleaned_data["title"] == "On the road"
    assert form.cleaned_data["introduction"] == "One\n\nTwo\nThree"


@pytest.mark.parametrize("flips", ["", None])
def test_a_missing_strength_is_reported(flips: str | None) -> None:
    message = only_error(question_form(flips=flips), "flips")
    assert message == "Choose how strongly the answers are protected."


@pytest.mark.parametrize("flips", ["0", "50", "-25", "49", "25.0", "1e9", "abc", "9" * 30])
def test_a_strength_out_of_range_is_refused(flips: str) -> None:
    message = only_error(question_form(flips=flips), "flips")
    assert message == "Choose one of the strengths in the list."


def test_a_survey_needs_a_title() -> None:
    assert only_error(CreateForm({"title": " ", "introduction": ""}), "title") == ("Enter a title.")


def test_texts_that_are_too_long_are_refused_with_their_length() -> None:
    form = CreateForm({"title": "t" * 201, "introduction": "i" * 5000})
    assert "201 characters. Shorten it to 200" in str(form.errors["title"])
    assert "5000 characters. Shorten it to 2000" in str(form.errors["introduction"])


def test_good_settings_pass() -> None:
    form = settings_form(opens_at=in_days(1), closes_at=in_days(2), cap="100")
    assert form.is_valid()
    closes: datetime = form.cleaned_data["closes_at"]
    assert closes.utcoffset() == timedelta(0)
    assert form.cleaned_data["cap"] == 100


@pytest.mark.parametrize("value", ["9", "0", "-1", "10001", "", "many", "12.5", "9" * 5000])
def test_k_must_be_a_number_of_at_least_ten(value: str) -> None:
    message = only_error(settings_form(minimum_batch=value), "minimum_batch")
    assert message.startswith("Enter a whole number from 10 to 10,000.")


def test_the_display_minimum_cannot_be_below_k() -> None:
    message = only_error(settings_form(minimum_batch="120"), "display_minimum")
    assert "cannot be below K (120)" in message
    assert settings_form(minimum_batch="100").is_valid()


def test_the_form_says_how_many_reports_results_need() -> None:
    field = settings_form().fields["display_minimum"]
    assert (field.label, field.help_text) == (
        "Fewest reports for results",
        f"Results need this many reports, and at least {BATCHES_IN_CROWD} × K.",
    )


def test_a_cap_below_the_display_minimum_is_refused_with_the_reason() -> None:
    message = only_error(settings_form(cap="99"), "cap")
    assert message == (
        "A survey that closes after 99 people would never show a result, because “Fewest "
        "reports” is 100. Raise this number or lower “Fewest reports”."
    )
    assert settings_form(cap="100").is_valid()


@pytest.mark.parametrize("value", ["0", "-5", "many", "9" * 5000])
def test_a_cap_that_is_not_a_sensible_number_is_refused(value: str) -> None:
    assert not settings_form(cap=value).is_valid()


def test_fewer_people_than_the_display_minimum_cannot_be_expected() -> None:
    message = only_error(settings_form(people_expected="99"), "people_expected")
    assert message == (
        "If 99 people answer, no result is ever shown, because “Fewest reports” is 100. "
        "Raise this number or lower “Fewest reports”."
    )
    assert settings_form(people_expected="100").is_valid()


def test_more_people_than_the_cap_cannot_be_expected() -> None:
    message = only_error(settings_form(cap="200", people_expected="201"), "people_expected")
    assert message.startswith("The survey closes when 200 people have answered")
    assert settings_form(cap="200", people_expected="200").is_valid()


@pytest.mark.parametrize("value", ["0", "9", "-5", "many", "12.5", "1000000000", "9" * 5000])
def test_a_number_of_people_expected_that_makes_no_sense_is_refused(value: str) -> None:
    message = only_error(settings_form(people_expected=value), "people_expected")
    assert message.startswith("Enter a whole number from 10 to")


def test_the_number_of_people_expected_may_stay_empty() -> None:
    form = settings_form(people_expected="")
    assert form.is_valid()
    assert form.cleaned_data["people_expected"] is None


def test_dates_in_the_past_are_refused() -> None:
    form = settings_form(opens_at=in_days(-2), closes_at=in_days(-1))
    assert str(form.errors["opens_at"][0]).startswith("The opening date has passed.")
    assert str(form.errors["closes_at"][0]).startswith("The closing date has passed.")


@pytest.mark.parametrize(("chosen", "may_be_empty"), [({}, True), (PROTECTED, False)])
def test_a_closing_date_that_is_needed_is_not_to_be_left_empty(
    chosen: dict[str, object], may_be_empty: bool
) -> None:
    problem = only_error(settings_form(**chosen, closes_at=in_days(-1)), "closes_at")
    assert ("leave it empty" in problem) == may_be_empty


@pytest.mark.parametrize("closes", [1, 2])
def test_the_closing_date_must_come_after_the_opening_date(closes: int) -> None:
    same = in_days(2)
    form = settings_form(opens_at=same, closes_at=same if closes == 2 else in_days(closes))
    assert only_error(form, "closes_at").startswith(
        "The closing date must come after the opening date."
    )


FAR = "9999-12-31T12:00"


@pytest.mark.parametrize(
    ("dates", "least", "after"),
    [
        ({}, 7, "today"),
        ({"opens_at": 2}, 9, "the opening date"),
        ({"opens_at": 2, "closes_at": 4}, 11, "the closing date"),
    ],
)
def test_a_survey_is_deleted_at_least_a_week_after_its_end(
    dates: dict[str, int], least: int, after: str
) -> None:
    typed = {name: in_days(days) for name, days in dates.items()}
    assert settings_form(**typed, delete_on=in_days(least)[:10]).is_valid()
    early = settings_form(**typed, delete_on=in_days(least - 1)[:10])
    assert only_error(early, "delete_on").startswith(
        f"The deletion date must be at least 7 days after {after}, so"
    )


@pytest.mark.parametrize("value", ["soon", "2027-02-30", "31.3.2027", "10000-01-01", "0001-01-01"])
def test_a_day_of_deletion_that_cannot_be_is_refused(value: str) -> None:
    form = settings_form(delete_on=value)
    assert only_error(form, "delete_on").endswith("leave it empty.")
    assert form["delete_on"].value() == value


def test_the_last_day_that_there_is_may_close_or_delete_a_survey() -> None:
    assert settings_form(delete_on=FAR[:10]).is_valid()
    assert only_error(settings_form(closes_at=FAR, delete_on=FAR[:10]), "delete_on")


@pytest.mark.parametrize("value", ["tomorrow", "2027-13-45T99:00", "2027", "0001-01-01T00:00"])
def test_a_date_that_cannot_be_read_is_kept_and_refused(value: str) -> None:
    form = settings_form(closes_at=value)
    assert only_error(form, "closes_at")
    assert value in str(form["closes_at"])


def test_two_wrong_numbers_are_each_reported_once() -> None:
    form = settings_form(minimum_batch="x", display_minimum="y")
    assert {field: len(errors) for field, errors in form.errors.items()} == {
        "minimum_batch": 1,
        "display_minimum": 1,
    }


@pytest.mark.parametrize(
    ("typed", "hundredths"), [("0.1", 10), ("0.29", 29), ("1", 100), ("1.15", 115), ("3.00", 300)]
)
def test_the_cap_is_stored_in_whole_hundredths(typed: str, hundredths: int) -> None:
    form = settings_form(**PROTECTED | {"release_epsilon": typed}, closes_at=in_days(2))
    assert form.is_valid(), form.errors
    assert form.cleaned_data["release_epsilon_hundredths"] == hundredths
    assert "release_epsilon" not in form.cleaned_data


@pytest.mark.parametrize(
    "typed", ["", "0", "0.09", "-1", "3.01", "1e9", "NaN", "Infinity", "one", "0.125", "1,5 ε"]
)
def test_a_cap_that_makes_no_sense_is_refused_with_one_sentence(typed: str) -> None:
    form = settings_form(**PROTECTED | {"release_epsilon": typed})
    assert only_error(form, "release_epsilon") == CAP


@pytest.mark.parametrize("typed", ["", "-1", "1001", "0.5", "NaN", "1e-6"])
def test_a_delta_that_makes_no_sense_is_refused_with_one_sentence(typed: str) -> None:
    form = settings_form(**PROTECTED | {"release_delta_nanos": typed})
    assert only_error(form, "release_delta_nanos") == DELTA


@pytest.mark.parametrize(("people", "most"), [("200000", 500), ("300000", 333)])
def test_delta_is_at_most_one_in_ten_times_the_people_expected(people: str, most: int) -> None:
    expected = {**PROTECTED, "people_expected": people}
    assert settings_form(**expected | {"release_delta_nanos": str(most)}).is_valid()
    form = settings_form(**expected | {"release_delta_nanos": str(most + 1)})
    problem = only_error(form, "release_delta_nanos")
    assert problem == (
        f"If you expect {int(people):,} people, δ can be at most {most} billionths. "
        "Enter this number or a smaller one."
    )


def test_the_page_says_what_four_caps_mean() -> None:
    """e^.5 / (1 + e^.5) = .622; e^1: .731; e^2: .881; e^3: .953; e^4: .982; e^6: .9975."""
    assert list(SettingsForm().caps) == [
        (0.5, "63", "74"),
        (1.0, "74", "89"),
        (2.0, "89", "99"),
        (3.0, "96", "99.8"),
    ]


def test_no_number_of_people_closes_a_protected_survey() -> None:
    problem = only_error(settings_form(**PROTECTED, cap="500"), "cap")
    assert "publish how many took part" in problem
    assert settings_form(publication="exact", cap="500").is_valid()


@pytest.mark.parametrize("chosen", ["none", "exact"])
def test_limits_that_nobody_sees_are_neither_checked_nor_changed(chosen: str) -> None:
    """Browsers without :has() show these limits, but the limits do not count."""
    for typed in ({}, {"release_epsilon": "NaN", "release_delta_nanos": "-1"}):
        form = settings_form(publication=chosen, **typed)
        assert form.is_valid(), form.errors
        assert not [name for name in form.cleaned_data if name.startswith("release")]
