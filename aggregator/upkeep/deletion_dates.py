"""Deletion of surveys on the day that respondents were told, and emails to owners before that day.

The day is frozen with the survey. Once a sweep finds that the day has come, however late, the
survey is deleted just as its owner would delete it. No email or page can delay that.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from accounts.mail.sending import send_or_log
from aggregator.upkeep.deleting import delete_survey
from surveys.formatting import day
from surveys.lifecycle.errors import NotOpen
from surveys.lifecycle.services import close_wave
from surveys.models import Role, Survey, Verb, Wave, today

# A mail server that does not answer costs a worker EMAIL_TIMEOUT each time.
RETRY_AFTER = timedelta(hours=1)
SUBJECT = "A survey will be deleted on {day}"
# The email omits the title, which may reveal the topic of the questions.
MESSAGE = (
    "On {day}, Murmur will delete one of your surveys and everything that it collected. You chose "
    "this day before you opened the survey, and its respondents were told.\n\n"
    "The list of your surveys shows which one. Download what you need before that day:\n\n"
    "{address}\n"
)


def find_waves_to_delete() -> QuerySet[Wave]:
    """Find the browser waves of surveys, open or closed, whose day of deletion has come."""
    return Wave.objects.electronic().past_deletion_date(timezone.now()).order_by()


def delete_on_its_date(*, wave_id: int) -> None:
    """Delete a survey whose day of deletion has come, after closing it if it is open.

    If a worker dies between closing and deleting, the survey is still due.
    """
    wave = find_waves_to_delete().select_related("survey").filter(pk=wave_id).first()
    if wave is None or _is_locked(wave_id):
        return  # deleted already, or another worker is deleting or sealing it
    survey = wave.survey
    if wave.is_open:
        with suppress(NotOpen, Wave.DoesNotExist):
            close_wave(wave_id=wave_id, ending=Wave.Ending.DATE)
    with suppress(Survey.DoesNotExist):
        delete_survey(survey=survey, verb=Verb.EXPIRED)


@transaction.atomic
def _is_locked(wave_id: int) -> bool:
    """Return whether the wave's row is locked; workers with other work must not wait for it."""
    free = Wave.objects.select_for_update(skip_locked=True, no_key=True).filter(pk=wave_id)
    return not free.values_list("pk").first()


def is_deletion_mail_due() -> bool:
    return _find_due(timezone.now()).exists()


def send_next_deletion_mail() -> None:
    """Send one email; if that fails, all emails wait before the next attempt."""
    now = timezone.now()
    until = now + RETRY_AFTER
    survey = _find_due(now).order_by("?").first()
    if survey is None:
        return
    unchanged = Survey.objects.filter(pk=survey.pk, deletion_mail_at=survey.deletion_mail_at)
    if not unchanged.update(deletion_mail_at=until):
        return  # another worker has just taken it
    # Other emails also wait, even if this worker dies now, because a silent server must not hold up
    # one worker after another.
    _find_due(now).update(deletion_mail_at=until)
    if _send(survey):
        Survey.objects.filter(pk=survey.pk).update(deletion_mail_at=None)
        Survey.objects.filter(deletion_mail_at=until).update(deletion_mail_at=now)


def _find_due(now: datetime) -> QuerySet[Survey]:
    return Survey.objects.filter(deletion_mail_at__lte=now)


def _send(survey: Survey) -> bool:
    """Send the email if it is still wanted; return whether nothing is left to send."""
    owners = survey.memberships.filter(role=Role.OWNER, account__is_active=True)
    addresses = list(owners.order_by("pk").values_list("account__email", flat=True))
    if survey.delete_on is None or survey.delete_on <= today() or not addresses:
        return True
    told = {
        "day": day(survey.delete_on),
        "address": settings.PUBLIC_URL + reverse("aggregator:home"),
    }
    mail = EmailMessage(subject=SUBJECT.format(**told), body=MESSAGE.format(**told), to=addresses)
    return send_or_log(mail, what="An email about a deletion")
