"""Turns a contact, as an author types it, into a link that opens a mail or phone app."""

from __future__ import annotations

import re

# Short numbers such as 112 have three digits. The longest have 15 (E.164).
FEWEST_DIGITS, MOST_DIGITS = 3, 15
_PHONE = re.compile(r"\+?[0-9() ./-]+(?:ext\.? ?[0-9]+)?", re.IGNORECASE)
_MAIL = re.compile(r"[\w.+-]+@(?:[\w-]+\.)+[a-z]{2,}", re.ASCII | re.IGNORECASE)


def is_written_like_phone(text: str) -> bool:
    return _PHONE.fullmatch(text.strip()) is not None


def count_digits(text: str) -> int:
    """Count the digits of a phone number, but not the digits of its extension."""
    return sum(character.isdecimal() for character in text.lower().partition("ext")[0])


def link_phone(text: str) -> str:
    """Return a tel: link, or an empty string if the text is not one phone number."""
    if not is_written_like_phone(text) or not FEWEST_DIGITS <= count_digits(text) <= MOST_DIGITS:
        return ""
    number, _, extension = text.strip().lower().partition("ext")
    # In +49 (0)30, people do not dial the 0.
    dialled = number.replace("(0)", "") if number.startswith("+") else number
    link = "tel:" + re.sub(r"[^0-9+]", "", dialled)
    return f"{link};ext={extension.strip('. ')}" if extension else link


def link_contact(text: str) -> str:
    """Return a mailto: or tel: link, or "" if the text is not just an address or a number."""
    return f"mailto:{text.strip()}" if _MAIL.fullmatch(text.strip()) else link_phone(text)
