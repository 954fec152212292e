"""Find settings of Murmur that weaken privacy or contradict other settings."""

from __future__ import annotations

import logging
import re
import resource
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage
from django.http.request import split_domain_port, validate_host

from accounts.mail.delivery import describe_remedy, find_delivery
from aggregator.upkeep.checks import messages
from aggregator.upkeep.checks.messages import judge
from surveys.lifecycle.reach import find_local_host


def check_privacy_settings(**_kwargs: Any) -> list[CheckMessage]:
    """Find settings that reveal reports, or when and from where they were sent."""
    return [*_check_exposure(), *_check_transport(), *_check_core_dumps()]


def _check_exposure() -> Iterator[CheckMessage]:
    yield from judge(
        messages.DEBUG,
        f"DEBUG = {settings.DEBUG}",
        good=not settings.DEBUG,
        meaning="error pages show settings, and Django keeps every SQL statement in memory.",
        remedy="export DEBUG=false",
    )
    yield from judge(
        messages.HOSTS,
        f"ALLOWED_HOSTS = {','.join(settings.ALLOWED_HOSTS)}",
        good="*" not in settings.ALLOWED_HOSTS,
        meaning="Murmur answers to any host name that a request gives.",
        remedy="export ALLOWED_HOSTS=the.name.that.people.type",
    )
    loggers = (logging.getLogger(), logging.getLogger("django.db.backends"))
    level = logging.getLevelName(min(logger.getEffectiveLevel() for logger in loggers))
    yield from judge(
        messages.LOG_LEVEL,
        f"LOG_LEVEL = {level}",
        good=level != "DEBUG",
        meaning="logs quote SQL statements with reports, and requests with addresses.",
        remedy="export LOG_LEVEL=INFO",
    )


def _check_transport() -> Iterator[CheckMessage]:
    yield from judge(
        messages.HTTPS,
        f"MURMUR_HTTPS = {settings.HTTPS}",
        good=settings.HTTPS,
        meaning="anyone on the network path can read reports and cookies, and change pages.",
        remedy="export MURMUR_HTTPS=true, behind a proxy that terminates TLS.",
    )
    yield from judge(
        messages.PROXY,
        f"MURMUR_BEHIND_PROXY = {settings.BEHIND_PROXY}",
        # A proxy usually terminates HTTPS, and then all requests come from the proxy's address.
        good=True if settings.BEHIND_PROXY or not settings.HTTPS else None,
        meaning="behind a proxy, all reports appear to come from the proxy's address.",
        remedy="export MURMUR_BEHIND_PROXY=true, if a proxy terminates TLS and appends to "
        "X-Forwarded-For.",
    )
    yield from judge(
        messages.REPORT_LIMIT,
        f"MURMUR_REPORTS_PER_MINUTE = {settings.REPORTS_PER_MINUTE}",
        good=settings.REPORTS_PER_MINUTE > 0,
        meaning="one address can send any number of invented reports.",
        remedy="export MURMUR_REPORTS_PER_MINUTE=120",
    )


def _check_core_dumps() -> list[CheckMessage]:
    soft_limit, _ = resource.getrlimit(resource.RLIMIT_CORE)
    return judge(
        messages.CORE_DUMPS,
        f"core dumps of programs started here: {'off' if soft_limit == 0 else 'on'}",
        good=soft_limit == 0,
        meaning="a crash writes reports from memory to the disk.",
        remedy="ulimit -c 0; LimitCORE=0 in systemd units; ulimits: {core: 0} in compose.",
    )


def check_security_contact(**_kwargs: Any) -> list[CheckMessage]:
    """Warn if this server names no contact for reports about vulnerabilities."""
    return judge(
        messages.SECURITY_CONTACT,
        "MURMUR_SECURITY_CONTACT is not set",
        good=True if settings.SECURITY_CONTACT else None,
        meaning="/.well-known/security.txt answers 404, so people who find a vulnerability do not "
        "know whom to tell.",
        remedy="export MURMUR_SECURITY_CONTACT=mailto:…, or the address of a page with a form",
    )


def check_public_address(**_kwargs: Any) -> list[CheckMessage]:
    """Check whether people elsewhere can open the links that are sent and printed."""
    local = find_local_host(settings.PUBLIC_URL)
    return judge(
        messages.PUBLIC_ADDRESS,
        f"MURMUR_PUBLIC_URL = {settings.PUBLIC_URL if settings.PUBLIC_URL_IS_SET else ''}",
        # This is only a warning, as a local address is intended on a laptop or in a closed network.
        good=True if settings.PUBLIC_URL_IS_SET and not local else None,
        meaning=(
            f"emails, share links, posters and QR codes lead to {settings.PUBLIC_URL}"
            + (", which no one elsewhere can open." if local else ", which was guessed.")
        ),
        remedy="export MURMUR_PUBLIC_URL=https://the.name.that.people.type",
    )


def check_mail(**_kwargs: Any) -> list[CheckMessage]:
    """Warn if people who forgot their password get no email; on a laptop, they need none."""
    delivery = find_delivery()
    sender = settings.DEFAULT_FROM_EMAIL
    is_local = sender.rstrip(">").endswith("@localhost")
    unset = judge(
        messages.MAIL,
        "no mail server is set",
        good=delivery.is_sent or None,
        meaning="no mail is sent, so no one can choose a new password without the operator."
        + (f" Links are written to {delivery.place}." if delivery.place else ""),
        remedy=f"{describe_remedy()}; then manage.py check_mail --to …",
    )
    return unset or judge(
        messages.MAIL,
        f"DEFAULT_FROM_EMAIL = {sender}",
        good=None if is_local else True,
        meaning="most mail servers refuse emails from this sender.",
        remedy="export DEFAULT_FROM_EMAIL=murmur@your.domain; manage.py check_mail --to …",
    )


Rule = tuple[str, bool | None, str, str]  # subject, whether the setting is right, meaning, remedy


def check_contradictions(**_kwargs: Any) -> list[CheckMessage]:
    """Find settings that make no sense in any installation; this runs before every command."""
    return [
        message
        for subject, good, meaning, remedy in _find_rules()
        for message in judge(
            messages.CONTRADICTION, subject, good=good, meaning=meaning, remedy=remedy
        )
    ]


def _find_rules() -> Iterator[Rule]:
    yield from _number_rules()
    yield from _session_rules()
    yield _proxy_rule()
    yield _public_rule()
    yield _hsts_rule()
    yield _contact_rule()
    yield from _address_rules()


def _number_rules() -> Iterator[Rule]:
    yield (
        f"MURMUR_SWEEP_SECONDS = {settings.SWEEP_SECONDS:g}",
        settings.SWEEP_SECONDS > 0,
        "beat would send sweeps without a pause.",
        "export MURMUR_SWEEP_SECONDS=2",
    )
    yield (
        f"MURMUR_PURGE_SECONDS = {settings.PURGE_SECONDS:g}",
        settings.PURGE_SECONDS >= 0,
        "a time cannot be negative.",
        "export MURMUR_PURGE_SECONDS=60",
    )
    yield (
        f"MURMUR_REPORTS_PER_MINUTE = {settings.REPORTS_PER_MINUTE}",
        settings.REPORTS_PER_MINUTE >= 0,
        "every report would be refused.",
        "export MURMUR_REPORTS_PER_MINUTE=120",
    )
    yield (
        f"MURMUR_REPORTS_PER_SECOND = {settings.REPORTS_PER_SECOND}",
        settings.REPORTS_PER_SECOND > 0,
        "no report could be accepted while the limiter is unavailable.",
        "export MURMUR_REPORTS_PER_SECOND=200",
    )


def _session_rules() -> Iterator[Rule]:
    for name, value, usual in (
        ("MURMUR_SESSION_IDLE_HOURS", settings.SESSION_IDLE_SECONDS / 3600, 12),
        ("MURMUR_SESSION_DAYS", settings.SESSION_COOKIE_AGE / 86400, 7),
    ):
        yield (
            f"{name} = {value:g}",
            value > 0,
            "everyone would be signed out at once.",
            f"export {name}={usual}",
        )


def _proxy_rule() -> Rule:
    return (
        f"MURMUR_BEHIND_PROXY = {settings.BEHIND_PROXY} with MURMUR_HTTPS = {settings.HTTPS}",
        # This is only a warning, because load tests imitate a proxy on a machine without TLS.
        True if settings.HTTPS or not settings.BEHIND_PROXY else None,
        "Murmur trusts the proxy's X-Forwarded-Proto, yet sends cookies over plain HTTP.",
        "export MURMUR_HTTPS=true, or MURMUR_BEHIND_PROXY=false if there is no proxy.",
    )


def _hsts_rule() -> Rule:
    return (
        f"MURMUR_HSTS = {settings.HSTS}",
        re.fullmatch(r"max-age=\d+(; includeSubDomains(; preload)?)?", settings.HSTS) is not None,
        "browsers would not understand the header, or would refuse to list the host.",
        "export MURMUR_HSTS=max-age=63072000",
    )


def _public_rule() -> Rule:
    address = urlsplit(settings.PUBLIC_URL)
    host, _ = split_domain_port(address.netloc.lower())
    return (
        f"MURMUR_PUBLIC_URL = {settings.PUBLIC_URL}",
        settings.PUBLIC_URL in (f"http://{address.netloc}", f"https://{address.netloc}")
        and validate_host(host, settings.ALLOWED_HOSTS),
        "links need a web address that has no path and uses a host from ALLOWED_HOSTS.",
        "export MURMUR_PUBLIC_URL=https://the.name.that.people.type",
    )


def _contact_rule() -> Rule:
    contact = settings.SECURITY_CONTACT
    return (
        f"MURMUR_SECURITY_CONTACT = {contact}",
        # A line break would add a field to security.txt.
        not contact or re.fullmatch(r"(mailto:|https://|tel:)\S+", contact) is not None,
        "security.txt must give it as mailto:…, https://… or tel:….",
        "export MURMUR_SECURITY_CONTACT=mailto:…",
    )


def _address_rules() -> Iterator[Rule]:
    for name, url in (
        ("MURMUR_EXIT_URL", settings.EXIT_URL),
        ("MURMUR_SOURCE_URL", settings.SOURCE_URL),
        ("MURMUR_SECURITY_POLICY", settings.SECURITY_POLICY),
    ):
        yield (
            f"{name} = {url}",
            not url or re.fullmatch(r"https?://\S+", url) is not None,
            "pages or security.txt link to it, but it is not a web address.",
            f"export {name}=https://…",
        )
