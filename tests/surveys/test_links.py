"""Text that becomes a link to a mail or phone app, and text that does not."""

import pytest

from surveys.links import link_contact, link_phone


@pytest.mark.parametrize(
    ("typed", "link"),
    [
        ("112", "tel:112"),
        (" +49 (0)30 / 123-45.6 ", "tel:+4930123456"),
        ("(030) 123456", "tel:030123456"),
        ("0800 111 0 111", "tel:08001110111"),
        ("555-0100 ext. 12", "tel:5550100;ext=12"),
        ("555 0100 EXT 7", "tel:5550100;ext=7"),
        ("", ""),
        ("12", ""),
        ("12 ext 345", ""),
        ("0800 111 0 111 / 0800 111 0 222", ""),  # two numbers
        ("112 or 113", ""),
        ("1+12", ""),
        ("javascript:112", ""),
        ("٠٣٠١٢٣", ""),
    ],
)
def test_one_phone_number_becomes_a_link(typed: str, link: str) -> None:
    assert link_phone(typed) == link
    assert link_contact(typed) == link


@pytest.mark.parametrize(
    ("typed", "link"),
    [
        ("ask@example.org", "mailto:ask@example.org"),
        ("a.b+c@mail.example.org", "mailto:a.b+c@mail.example.org"),
        ("ask@example.org?bcc=you@example.org", ""),
        ("ask@example.org, you@example.org", ""),
        ("Room 12, or ask@example.org", ""),
        ("ask@localhost", ""),
        ("mailto:ask@example.org", ""),
    ],
)
def test_one_mail_address_becomes_a_link(typed: str, link: str) -> None:
    assert link_contact(typed) == link
