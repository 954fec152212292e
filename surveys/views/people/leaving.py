"""Pages for handing over all surveys, and for deleting one's account."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from accounts.account_page import confirmed
from accounts.models import User
from surveys.access import account_of
from surveys.people.errors import OwnsSurveys, PeopleError
from surveys.people.forms import SuccessorForm
from surveys.people.leaving import (
    delete_account,
    find_colleagues,
    find_owned_alone,
    find_teams_owned_alone,
    hand_over_all,
)
from surveys.views.authoring.draft_page import REFUSED, page_or_form, posted_to

CONFLICT = 409


@page_or_form
@login_required
def hand_over(request: HttpRequest) -> HttpResponse:
    """Make a colleague the owner of all surveys that only this account owns."""
    account = account_of(request).pk
    people = find_colleagues(account)
    form = SuccessorForm(posted_to(request), people=people)
    if form.is_valid():
        new: User = form.cleaned_data["account"]
        try:
            number = hand_over_all(account=account, to=new.pk)
            messages.success(request, f"Surveys that were handed over: {number}.")
        except PeopleError as error:
            messages.error(request, str(error))
        return redirect("surveys:account_leave")
    surveys = find_owned_alone(account).count()
    context = {"form": form, "people": people, "surveys": surveys}
    status = REFUSED if form.errors else 200
    return render(request, "surveys/people/hand_over_all.html", context, status=status)


@page_or_form
@login_required
@confirmed
def leave(request: HttpRequest) -> HttpResponse:
    """Delete the account. If it is the only owner of surveys, only say what to do."""
    assert isinstance(request.user, User)
    status = 200
    if request.method == "POST":
        try:
            delete_account(request.user)
        except OwnsSurveys:
            status = CONFLICT
        else:
            logout(request)
            return redirect("surveys:account_left")
    context = {
        "surveys": find_owned_alone(account_of(request).pk).count(),
        "teams": list(find_teams_owned_alone(account_of(request).pk)),
        "is_refused": status == CONFLICT,
    }
    return render(request, "surveys/people/leave.html", context, status=status)


@require_safe
def left(request: HttpRequest) -> HttpResponse:
    return render(request, "surveys/people/left.html")
