"""Check web addresses and phone numbers that become links on respondents' pages."""

from __future__ import annotations

from urllib.parse import urlsplit

from surveys.links import FEWEST_DIGITS, MOST_DIGITS, count_digits, is_written_like_phone
from surveys.manifest.plain_text import fold

# Hosts that forward people to another address and record who followed the link.
FORWARDING = (
    "bit.ly",
    "buff.ly",
    "cutt.ly",
    "eepurl.com",
    "goo.gl",
    "is.gd",
    "l.facebook.com",
    "lnkd.in",
    "ow.ly",
    "rb.gy",
    "rebrand.ly",
    "safelinks.protection.outlook.com",
    "shorturl.at",
    "t.co",
    "t.ly",
    "t1p.de",
    "tiny.cc",
    "tinyurl.com",
    "v.gd",
)


def find_phone_problem(phone: str) -> str:
    """Say why `phone` cannot be used as a phone link, or return an empty string."""
    digits = count_digits(phone)
    if not is_written_like_phone(phone):
        return (
            "Enter one phone number: digits, spaces and + ( ) - / . only. Write “ext” "
            "before an extension."
        )
    if digits < FEWEST_DIGITS:
        return f"Enter a phone number with at least {FEWEST_DIGITS} digits, such as 112."
    if digits > MOST_DIGITS:
        return f"A phone number has at most {MOST_DIGITS} digits. Enter one number only."
    return ""


def find_address_problem(address: str) -> str:
    """Say why an address cannot be a link for respondents, or return an empty string."""
    whole = "Enter a whole web address, such as https://example.org/help."
    if not address.lower().startswith("https://"):
        return "Enter a web address that begins with https://."
    try:
        parts = urlsplit(address)
        host, _ = fold(parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return whole
    if "?" in address or "#" in address:
        return "Addresses with ? or # can identify people. Leave out everything from that sign on."
    if "@" in parts.netloc:
        return "An address with @ can identify people. Leave out everything up to the @."
    names = host.split(".")
    if "\\" in address or " " in address or len(names) < 2 or not all(names):
        return whole
    if any(host == one or host.endswith(f".{one}") for one in FORWARDING):
        return (
            f"{host} forwards people and can record who they are. Enter the address that it "
            "forwards to."
        )
    return ""
