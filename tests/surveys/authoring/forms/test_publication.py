"""The choice of what anyone may see: the limits count only for protected figures."""

from __future__ import annotations

import pytest

from tests.surveys.authoring.forms.test_forms import in_days, only_error, settings_form

CAP = "Enter the cap as a number from 0.10 to 3.00."
DELTA = "Enter a whole number from 0 to 1,000."
PROTECTED = {"publication": "protected", "release_epsilon": "1.00", "release_delta_nanos": "1000"}


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
    assert problem == f"With {int(people):,} people expected, δ can be at most {most} billionths."


def test_no_number_of_people_closes_a_protected_survey() -> None:
    problem = only_error(settings_form(**PROTECTED, cap="500"), "cap")
    assert "publish how many took part" in problem
    assert settings_form(publication="exact", cap="500").is_valid()


@pytest.mark.parametrize("chosen", ["none", "exact"])
def test_limits_that_nobody_sees_are_neither_checked_nor_changed(chosen: str) -> None:
    """Without the style sheet's :has(), the page shows them; they still do not count."""
    for typed in ({}, {"release_epsilon": "NaN", "release_delta_nanos": "-1"}):
        form = settings_form(publication=chosen, **typed)
        assert form.is_valid(), form.errors
        assert not [name for name in form.cleaned_data if name.startswith("release")]
