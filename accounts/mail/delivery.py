"""Says whether this installation sends emails, and where unsent emails are."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings

BACKENDS = "django.core.mail.backends."
# Under scripts/run, emails go to this log. Elsewhere, operators know where workers' output goes.
LEISURE_LOG = ("log", "leisure.log")


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """How this installation handles emails."""

    is_sent: bool
    place: str  # the server, or where unsent emails are


def find_delivery() -> Delivery:
    kind = settings.EMAIL_BACKEND.removeprefix(BACKENDS).removesuffix(".EmailBackend")
    if kind == "console":
        log = settings.VAR_DIR.joinpath(*LEISURE_LOG)
        return Delivery(is_sent=False, place=str(log) if log.exists() else "the log of the workers")
    if kind == "filebased":
        return Delivery(is_sent=False, place=str(getattr(settings, "EMAIL_FILE_PATH", "")))
    if kind == "dummy":
        return Delivery(is_sent=False, place="")
    if kind == "smtp":
        return Delivery(is_sent=True, place=_describe_server())
    return Delivery(is_sent=True, place=settings.EMAIL_BACKEND)


def describe_remedy() -> str:
    """Say where to set the mail server's address, which an installation may keep in a file."""
    address, place = "smtp+tls://USER:PASSWORD@SERVER:587", settings.EMAIL_PLACE
    return f"write {address} into {place}" if "/" in place else f"set {place}={address}"


def _describe_server() -> str:
    security = "without encryption"
    if settings.EMAIL_USE_SSL:
        security = "with TLS"
    elif settings.EMAIL_USE_TLS:
        security = "with STARTTLS"
    user = "with a password" if settings.EMAIL_HOST_USER else "without a password"
    return f"{settings.EMAIL_HOST}, port {settings.EMAIL_PORT or 25}, {security}, {user}"
