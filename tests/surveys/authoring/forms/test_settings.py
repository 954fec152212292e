"""Who asks, who helps, consent and declining: what authors may type, and its effect."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from surveys.authoring.drafts import build_manifest
from surveys.authoring.forms import SettingsForm
from surveys.authoring.launch_checks import list_warnings
from surveys.authoring.services import add_question
from surveys.authoring.settings_pages import describe_settings
from surveys.authoring.stamps import stamp_settings
from surveys.models import Question, Survey
from surveys.models.settings import SETTING_NAMES, SettingsPage, list_setting_names
from tests.support.factories import make_survey, make_user

USUAL = {
    "title": "On the road",
    "language": "en",
    "publication": "none",
    "minimum_batch": 10,
    "display_minimum": 10,
}
HELP = {"help_name": "Helpline", "help_phone": "112", "help_url": "https://example.org/help"}
T = Question.Type


def settings_form(**changes: object) -> SettingsForm:
    return SettingsForm({**USUAL, **changes})


def errors_of(**changes: object) -> dict[str, str]:
    return {name: str(errors[0]) for name, errors in settings_form(**changes).errors.items()}


@pytest.fixture
def survey(db: None, static_files: None) -> Survey:
    return make_survey(owner=make_user())


@pytest.fixture
def author(client: Client, survey: Survey) -> Client:
    client.force_login(survey.owner)
    return client


def save(author: Client, survey: Survey, **changes: object) -> str:
    """Save each page that has one of these settings, or the privacy page; return the last page."""
    fields = {page: set(list_setting_names(page)) for page in SettingsPage}
    pages = [page for page in SettingsPage if fields[page] & changes.keys()]
    typed, text = {**USUAL, **changes}, ""
    for page in pages or [SettingsPage.PRIVACY]:
        posted = {name: value for name, value in typed.items() if name in fields[page]}
        text = author.post(at(survey, page), posted, follow=True).text
    survey.refresh_from_db()
    return text


def at(survey: Survey, page: SettingsPage) -> str:
    return f"/surveys/{survey.slug}/settings/{page}"


def test_help_may_be_a_name_alone_or_have_a_phone_and_an_address() -> None:
    assert errors_of(**HELP) == {}
    assert errors_of(help_name="The nurse’s office") == {}


def test_help_without_a_name_is_refused_at_the_name() -> None:
    assert errors_of(help_phone="112") == {"help_name": "Say whose phone number it is."}
    assert errors_of(help_url=HELP["help_url"]) == {"help_name": "Say whose web address it is."}


@pytest.mark.parametrize(
    "phone", ["112", "+49 (0)30 / 123-45.6", "0800 111 0 111", "555-0100 ext. 1"]
)
def test_phone_numbers_that_can_be_dialled_are_kept_as_typed(phone: str) -> None:
    form = settings_form(**{**HELP, "help_phone": phone})
    assert form.is_valid()
    assert form.cleaned_data["help_phone"] == phone


@pytest.mark.parametrize(
    ("phone", "says"),
    [
        ("12", "at least 3 digits"),
        ("112 or 113", "digits, spaces and"),
        ("call me", "digits, spaces and"),
        ("javascript:112", "digits, spaces and"),
        ("tel:112", "digits, spaces and"),
        ("112;phone-context=x", "digits, spaces and"),
        ("0800 111 0 111 / 0800 111 0 222", "Enter one number only."),
        ("1" * 41, "Shorten it to 40 or fewer."),
    ],
)
def test_what_cannot_be_dialled_is_refused(phone: str, says: str) -> None:
    errors = errors_of(help_name="Helpline", help_phone=phone)
    assert list(errors) == ["help_phone"]
    assert says in errors["help_phone"]


@pytest.mark.parametrize(
    "address",
    [
        "https://example.org",
        "HTTPS://Example.org/help/now",
        "https://xn--bcher-kva.example:8443/a%20b",
    ],
)
def test_plain_addresses_are_accepted(address: str) -> None:
    assert errors_of(help_name="Helpline", help_url=address, notice_url=address) == {}


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("javascript:alert(1)", "begins with https://"),
        ("JavaScript://example.org/%0aalert(1)", "begins with https://"),
        ("data:text/html,x", "begins with https://"),
        ("http://example.org", "begins with https://"),
        ("example.org", "begins with https://"),
        ("//example.org", "begins with https://"),
        ("https://example.org/?id=7", "can identify people"),
        ("https://example.org/#anna", "can identify people"),
        ("https://example.org?", "can identify people"),
        ("https://anna@example.org/", "can identify people"),
        ("https://example.org:443@evil.example/", "can identify people"),
        ("https://", "whole web address"),
        ("https:///help", "whole web address"),
        ("https://localhost/", "whole web address"),
        ("https://example..org", "whole web address"),
        ("https://exam ple.org", "whole web address"),
        ("https://example.org\\@evil.example", "@"),
        ("https://example.org\\help", "whole web address"),
        ("https://[::1", "whole web address"),
        ("https://example.org:99999", "whole web address"),
        ("https://bit.ly/3abc", "bit.ly forwards people"),
        ("https://www.TinyURL.com/x", "www.tinyurl.com forwards people"),
        ("https://bit.ly./x", "forwards people"),
        ("https://ｂit.ly/x", "forwards people"),
        ("https://eur01.safelinks.protection.outlook.com/x", "forwards people"),
        ("https://example.org/" + "x" * 300, "Shorten it to 300 or fewer."),
    ],
)
def test_addresses_that_run_something_or_can_identify_people_are_refused(
    address: str, says: str
) -> None:
    for field, longest in (("help_url", 300), ("notice_url", 200)):
        says = says.replace("300", str(longest))
        errors = errors_of(help_name="Helpline", **{field: address})
        assert list(errors) == [field]
        assert says in errors[field]


@pytest.mark.parametrize(
    ("field", "longest"),
    [
        ("organization", 120),
        ("contact", 200),
        ("approval", 80),
        ("help_name", 120),
        ("consent", 10_000),
    ],
)
def test_each_text_has_a_longest_length(field: str, longest: int) -> None:
    assert errors_of(**{field: "ä" * longest}) == {}
    errors = errors_of(**{field: "ä" * (longest + 1)})
    assert list(errors) == [field]
    assert f"has {longest + 1} characters. Shorten it to {longest} or fewer." in errors[field]


def test_consent_keeps_its_lines_and_the_others_are_one_line() -> None:
    form = settings_form(consent="One\r\n\r\nTwo", organization="One\r\nTwo")
    assert form.is_valid()
    assert form.cleaned_data["consent"] == "One\n\nTwo"
    assert form.cleaned_data["organization"] == "One Two"


@pytest.mark.parametrize("age", ["9", "121", "-1", "18.5", "adult"])
def test_an_age_that_nobody_checks_is_refused(age: str) -> None:
    assert errors_of(minimum_age=age) == {
        "minimum_age": "Enter a whole number from 10 to 120. Or leave it empty."
    }


def test_everything_typed_survives_an_error(author: Client, survey: Survey) -> None:
    typed = {
        "organization": "O" * 120,
        "contact": "Room 12",
        "help_phone": "112",
        "help_url": "javascript:alert(1)",
        "consent": "c" * 10_001,
        "minimum_age": "7",
    }
    page = save(author, survey, **typed)
    assert page.count("There is a problem") == 1
    for text in typed.values():
        assert text in page
    assert (survey.organization, survey.consent) == ("", "")
    assert "<details open>" in page


def test_every_setting_is_on_one_page(author: Client, survey: Survey) -> None:
    found = [
        name
        for page in SettingsPage
        for name in set(re.findall(r'<[^>]* name="(\w+)"', author.get(at(survey, page)).text))
    ]
    typed = ["release_epsilon" if "epsilon" in name else name for name in SETTING_NAMES]
    assert [name for name in typed if found.count(name) != 1] == []
    assert author.get(f"/surveys/{survey.slug}/settings/else").status_code == 404


def test_what_is_frozen_is_listed_in_the_words_of_the_form(author: Client, survey: Survey) -> None:
    Survey.objects.update(**HELP, people_expected=1200, shared_devices=True)
    page = author.get(f"/surveys/{survey.slug}/launch").text
    listed = dict(re.findall(r"<dt>(.*?)</dt>\s*<dd[^>]*>(.*?)</dd>", page, re.DOTALL))
    assert listed["Their phone number"] == "112"
    assert listed["How many people do you expect to answer?"] == "1,200"
    assert listed["Several people answer on one device"] == "on"
    assert "Minimum age in years" not in listed  # nobody set an age


def test_the_longest_texts_are_stored_shown_and_frozen(author: Client, survey: Survey) -> None:
    save(author, survey, organization="O" * 120, consent="c" * 10_000, **HELP, minimum_age=18)
    assert survey.consent == "c" * 10_000
    page = author.get(f"/surveys/{survey.slug}/launch").text
    for text in ("O" * 120, "c" * 10_000, *HELP.values()):
        assert text in page
    assert build_manifest(survey=survey, wave_number=1).consent == survey.consent


def is_ticked(page: str, name: str) -> bool:
    [box] = re.findall(rf'<input type="checkbox" name="{name}"[^>]*>', page)
    return " checked" in box


def offered(survey: Survey) -> list[bool]:
    return [question.refusal for question in survey.questions.all()]


def test_a_new_survey_lets_people_decline_unless_the_author_unticks_it(
    author: Client, survey: Survey
) -> None:
    page = author.get("/surveys/new").text
    assert is_ticked(page, "may_decline")
    assert "needs about 1.4 times as many:" in page
    for ticked in (True, False):
        posted = {"title": f"New {ticked}"} | ({"may_decline": "on"} if ticked else {})
        author.post("/surveys/new", posted)
        assert Survey.objects.get(title=f"New {ticked}").may_decline is ticked


def test_a_question_starts_from_the_survey_and_may_differ(author: Client, survey: Survey) -> None:
    path = f"/surveys/{survey.slug}/questions/new?type=yes_no"
    assert not is_ticked(author.get(path).text, "refusal")
    Survey.objects.update(may_decline=True)
    page = author.get(path).text
    assert is_ticked(page, "refusal")
    assert "3 codes: 2 answers and “prefer not to say”" in page  # the cost includes the refusal
    # The cost of an offered follow-up does not include a refusal, so its link leaves that box
    # unticked.
    assert not is_ticked(author.get(f"{path}&refusal=").text, "refusal")
    author.post(path, {"text": "With?", "flips": 25, "refusal": "on"})
    author.post(path, {"text": "Without?", "flips": 25})
    assert offered(survey) == [False, False, True, False]
    stored = survey.questions.get(text="Without?")
    page = author.get(f"/surveys/{survey.slug}/questions/{stored.pk}/edit").text
    assert not is_ticked(page, "refusal")


def test_the_setting_changes_all_questions_and_says_how_many(
    author: Client, survey: Survey
) -> None:
    add_question(survey=survey, type=T.INFORMATION, text="Read this.")
    add_question(survey=survey, text="Already?", refusal=True)
    add_question(survey=survey, type=T.DECLARED, text="Where?", options=["Here", "There"])
    options = ["Yes", "Prefer not to say"]
    add_question(survey=survey, type=T.CHOICE, text="Itself?", options=options)
    page = save(author, survey, may_decline="on")
    assert offered(survey) == [True, True, False, True, True, False]
    assert "The settings were saved. 3 questions were changed with them." in page
    assert "Q5 cannot offer “Prefer not to say”" in page
    survey.questions.filter(position=1).update(refusal=False)
    page = save(author, survey, may_decline="on", publication="exact")
    assert offered(survey)[0] is False  # questions change only if the setting changes
    assert "The settings were saved.<" in page.replace("\n", "").replace("  ", "")
    save(author, survey)
    assert not any(offered(survey))


def test_a_full_question_is_left_as_it_is(author: Client, survey: Survey) -> None:
    survey.questions.all().delete()
    many = [str(number) for number in range(64)]
    add_question(survey=survey, type=T.CHOICE, text="Full?", options=many)
    add_question(survey=survey, type=T.CHOICE, text="Nearly?", options=many[:63])
    save(author, survey, may_decline="on")
    assert offered(survey) == [False, True]


def test_a_change_that_would_break_a_rule_changes_nothing(author: Client, survey: Survey) -> None:
    first = survey.questions.all()[0]
    first.refusal = True
    first.save()
    either = {"any": [{"name": str(first.pk), "is": [0]}, {"name": str(first.pk), "is": [1]}]}
    add_question(survey=survey, text="Asked of all who answer?", rule=either)
    Survey.objects.update(may_decline=True)
    page = save(author, survey, publication="exact")
    assert "Question 3 would always be asked" in page
    assert offered(survey) == [True, False, False]
    assert (survey.may_decline, survey.publication) == (True, "none")
    assert re.search(r'value="exact"[^>]* checked', page)


def test_two_coins_and_declining_exclude_each_other() -> None:
    assert errors_of(coins="on") == {}
    assert errors_of(may_decline="on") == {}
    assert errors_of(coins="on", may_decline="on") == {
        "may_decline": "Two coins can only say Yes or No. Switch this off, or switch the two "
        "coins off."
    }


def test_the_opening_warns_where_nobody_asks_or_helps(author: Client, survey: Survey) -> None:
    page = author.get(f"/surveys/{survey.slug}/launch").text
    assert "Respondents are not told who asks." in page
    assert "no page says where to find help." in page
    assert "Open the survey</button>" in page  # neither setting prevents it
    survey.organization, survey.help_name = "Murmur demo", "Helpline"
    assert list_warnings(survey=survey, manifest=build_manifest(survey=survey, wave_number=1)) == []
    survey.help_name, survey.quick_exit = "", False
    assert list_warnings(survey=survey, manifest=build_manifest(survey=survey, wave_number=1)) == []


CROSSED = {
    "a cap below the results": (
        {"cap": 20},
        {"minimum_batch": 10, "display_minimum": 30},
        "display_minimum",
    ),
    "fewer people than results need": (
        {"people_expected": 20},
        {"minimum_batch": 10, "display_minimum": 30},
        "display_minimum",
    ),
    "results that a cap does not reach": (
        {"display_minimum": 30},
        {"cap": 20},
        "cap",
    ),
    "coins where people may decline": ({"may_decline": True}, {"coins": "on"}, "coins"),
    "declining where coins are tossed": ({"coins": True}, {"may_decline": "on"}, "may_decline"),
    "protected figures with a cap": ({"cap": 500}, {"publication": "protected"}, "publication"),
    "a cap with protected figures": ({"publication": "protected"}, {"cap": 500}, "cap"),
}


@pytest.mark.parametrize(("stored", "typed", "field"), CROSSED.values(), ids=CROSSED)
def test_each_page_agrees_with_the_others(
    author: Client, survey: Survey, stored: dict[str, Any], typed: dict[str, Any], field: str
) -> None:
    Survey.objects.update(**stored)
    page = next(one for one in SettingsPage if field in list_setting_names(one))
    limits = {"release_epsilon": "1.00", "release_delta_nanos": "1000"}
    usual = {"minimum_batch": 10, "display_minimum": 10, "publication": "none"}
    answer = author.post(at(survey, page), usual | limits | typed)
    assert answer.status_code == 422
    assert f'href="#id_{field}' in answer.text
    before = vars(survey).copy()
    survey.refresh_from_db()
    assert {name: getattr(survey, name) for name in typed} == {name: before[name] for name in typed}


def test_two_people_save_two_pages(author: Client, survey: Survey) -> None:
    """Each page has a separate stamp and stores only the settings that it shows."""
    stamps = {
        page: stamp_settings(survey, page) for page in (SettingsPage.WHO, SettingsPage.SPECIAL)
    }
    typed = {"minimum_batch": 20, "display_minimum": 40, "stamp": stamps[SettingsPage.SPECIAL]}
    assert author.post(at(survey, SettingsPage.SPECIAL), typed).status_code == 302
    named = {"organization": "Murmur demo", "stamp": stamps[SettingsPage.WHO]}
    assert author.post(at(survey, SettingsPage.WHO), named).status_code == 302
    survey.refresh_from_db()
    assert (survey.organization, survey.display_minimum) == ("Murmur demo", 40)


def test_the_page_about_time_says_what_the_people_expected_give(
    author: Client, survey: Survey
) -> None:
    page = author.get(at(survey, SettingsPage.TIME)).text
    assert "at worst" not in page
    page = save(author, survey, people_expected=2000)
    assert re.search(r"With 2,000 people:\s*<a [^>]*>±\d", page)


def test_the_list_says_what_each_page_has_in_three_words(author: Client, survey: Survey) -> None:
    def states() -> list[str]:
        return [describe_settings(page, survey) for page in SettingsPage]

    assert states()[1:3] == ["Nobody named yet", "No end fixed"]
    assert describe_settings(SettingsPage.SPECIAL, Survey()) == "Only quick exit"
    survey.organization, survey.cap, survey.coins, survey.language = "Murmur", 900, True, "de"
    survey.minimum_batch, survey.display_minimum = 50, 100
    survey.publication = "exact"
    assert states() == [
        *("German, no introduction", "Named, no help", "Closes at 900"),
        *("Exact results public", "Two coins offered"),
    ]
    assert max(len(state.split()) for state in states()) == 3
