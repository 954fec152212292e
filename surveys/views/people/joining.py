"""The page that an invitation leads to, for people with an account and for new ones."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from surveys.access import Action, can
from surveys.models import Invitation, Role, Survey
from surveys.people.errors import PeopleError
from surveys.people.forms import JoinForm
from surveys.people.invitations import (
    VALID_FOR,
    accept,
    find_invitation,
    has_account,
    join,
    list_accepted_with,
)
from surveys.views.authoring.draft_page import REFUSED, page_or_form, posted_to

GONE = 410


@page_or_form
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Accept with a button, because programs that scan mail open links."""
    found = find_invitation(token)
    if found is None:
        return _show(request, "invalid", status=GONE)
    user = request.user
    if user.is_authenticated:
        if user.email.lower() != found.address:
            return _show(request, "other", status=403)
        return _accept(request, token) if request.method == "POST" else _show(request, "", found)
    if has_account(found):
        return _show(request, "sign-in", found)
    form = JoinForm(posted_to(request), address=found.address)
    if form.is_valid():
        try:
            joined = join(token=token, **form.cleaned_data)
        except PeopleError:
            return _show(request, "invalid", status=GONE)
        messages.success(request, "Your account was created. Sign in with your new password.")
        if joined.gone:  # without titles, because no one has signed in yet
            messages.warning(request, "Some surveys of the invitation have since been deleted.")
        return redirect("account_login")
    return _show(request, "new", found, form=form, status=REFUSED if form.errors else 200)


def _accept(request: HttpRequest, token: str) -> HttpResponse:
    assert request.user.is_authenticated
    try:
        accepted = accept(token=token, user=request.user)
    except PeopleError:
        return _show(request, "invalid", status=GONE)
    if accepted.gone:  # a message would be stored, but titles must be deleted with their survey
        return _show(request, "partly", gone=accepted.gone)
    messages.success(request, "You accepted the invitation.")
    target = accepted.target
    if not isinstance(target, Survey):
        return redirect("surveys:team", pk=target.pk)
    is_shown = can(request.user, Action.READ, target)
    return redirect("surveys:edit", target.slug) if is_shown else redirect("aggregator:home")


def _show(
    request: HttpRequest,
    state: str,
    found: Invitation | None = None,
    *,
    form: JoinForm | None = None,
    gone: Sequence[str] = (),
    status: int = 200,
) -> HttpResponse:
    context = {
        "state": state,
        "invitation": found,
        "together": list_accepted_with(found) if found else [],
        "role": Role(found.role).label.lower() if found else "",
        "form": form,
        "gone": gone,
        "valid_for": VALID_FOR,
    }
    return render(request, "surveys/people/invitation.html", context, status=status)
