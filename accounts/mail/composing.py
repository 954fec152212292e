"""The texts and recipients of the emails about accounts.

Emails about surveys are in surveys/people/mails.py and aggregator/upkeep/deletion_dates.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from django.conf import settings
from django.core.mail import EmailMessage
from django.db import models
from django.template.loader import render_to_string
from django.urls import reverse

from accounts.mail.address_links import Side, find_change, make_link
from accounts.models import User


class Kind(models.TextChoices):
    RESET = "reset"
    ADDRESS_OLD = "address-old"
    ADDRESS_NEW = "address-new"
    SECOND_FACTOR_ON = "factor-on"
    SECOND_FACTOR_OFF = "factor-off"
    SECOND_FACTOR_RESET = "factor-reset"
    RECOVERY_CODES_MADE = "codes-made"
    RECOVERY_CODE_USED = "code-used"
    CODES_GUESSED = "codes-guessed"
    ACCESS_GIVEN = "access-given"
    OWNER = "owner"
    OWNER_CHANGED = "owner-changed"
    OWNER_INVITED = "owner-invited"


# The subject of each email, and sentences about what happened. Each email ends with what the reader
# can do.
NOTICES: Mapping[str, tuple[str, str]] = {
    Kind.SECOND_FACTOR_ON: (
        "The second factor of your Murmur account is on",
        "From now on, signing in requires your password and a code from your app.",
    ),
    Kind.SECOND_FACTOR_OFF: (
        "The second factor of your Murmur account is off",
        "It was turned off on your account page. Signing in now requires only your password.",
    ),
    Kind.SECOND_FACTOR_RESET: (
        "The second factor of your Murmur account was reset",
        """\
The person who runs this Murmur site removed your second factor and your recovery codes, and signed
you out everywhere. Sign in with your password, and set up a new second factor.""",
    ),
    Kind.RECOVERY_CODES_MADE: (
        "Your Murmur account has new recovery codes",
        "They were made on your account page. The old ones no longer work.",
    ),
    Kind.RECOVERY_CODE_USED: (
        "A recovery code of your Murmur account was used",
        "Someone, probably you, entered one of your recovery codes. This code will not work again.",
    ),
    Kind.CODES_GUESSED: (
        "Wrong codes for your Murmur account",
        "Someone with your password or an open session entered many codes. All were wrong.",
    ),
    Kind.ACCESS_GIVEN: (
        "Your Murmur account has a new API token",
        "A program can use this token, made on your account page, to work with your surveys.",
    ),
}
# Titles of surveys are left out, because they can reveal what people are asked about.
NEWS: Mapping[str, tuple[str, str]] = {
    Kind.OWNER: (
        "You are the new owner of a survey on Murmur",
        """\
A survey was handed over to you. Its history shows who did this. The survey is in your list:""",
    ),
    Kind.OWNER_CHANGED: (
        "A survey on Murmur has a new owner",
        """\
The person who runs this Murmur site closed an account that owned a survey on which you work.
Someone else who works on that survey is now its owner. The survey is in your list:""",
    ),
    Kind.OWNER_INVITED: (
        "Someone was invited to become an owner of your surveys on Murmur",
        """\
The person who runs this Murmur site invited someone to become an owner of your surveys, and will
close your account once the invitation is accepted. Until then, you can withdraw the invitation on
the page “People” of a survey:""",
    ),
}
REMEDY = (
    "If this was not you, someone knows your password. Change it, and end all other sessions on "
    "your account page:"
)


def compose(kind: str, user: User) -> EmailMessage | None:
    """Return the email, or None if there is no longer anything to say."""
    if kind == Kind.RESET:
        return _compose_link("password_reset_key", to=user.email, link=_make_reset_link(user))
    if kind in (Kind.ADDRESS_OLD, Kind.ADDRESS_NEW):
        return _compose_address_mail(user, Side.OLD if kind == Kind.ADDRESS_OLD else Side.NEW)
    if kind in NEWS:
        subject, text = NEWS[kind]
        return EmailMessage(
            subject=subject, body=f"{text}\n\n{settings.PUBLIC_URL}/\n", to=[user.email]
        )
    subject, text = NOTICES[kind]
    page = f"{settings.PUBLIC_URL}{reverse('account')}"
    return EmailMessage(subject=subject, body=f"{text}\n\n{REMEDY}\n\n{page}\n", to=[user.email])


def _make_reset_link(user: User) -> str:
    key = {"uidb36": user_pk_to_url_str(user), "key": default_token_generator.make_token(user)}
    return reverse("account_reset_password_from_key", kwargs=key)


def _compose_address_mail(user: User, side: Side) -> EmailMessage | None:
    change = find_change(account=user.pk)
    if change is None:
        return None
    to = user.email if side == Side.OLD else change.new_email
    return _compose_link(f"address_{side}", to=to, link=make_link(change, side))


def _compose_link(name: str, *, to: str, link: str) -> EmailMessage:
    texts = [
        # Links begin with PUBLIC_URL, because an attacker could set the host in the request.
        render_to_string(
            f"account/email/{name}_{part}.txt", {"link": f"{settings.PUBLIC_URL}{link}"}
        ).strip()
        for part in ("subject", "message")
    ]
    return EmailMessage(subject=texts[0], body=texts[1] + "\n", to=[to])
