"""Pages about the people of a survey: roles, invitations, and handing over."""

from __future__ import annotations

from collections.abc import Callable

from allauth.core import ratelimit
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from accounts.models import User
from accounts.views import build_mail_context
from surveys.access import Action, account_of, can, needs
from surveys.models import Invitation, Membership, Role, Survey, TeamMember
from surveys.people import invitations, members, teams
from surveys.people.errors import PeopleError
from surveys.people.forms import REMOVE, AttachForm, InviteForm, RoleForm, SuccessorForm
from surveys.people.leaving import find_colleagues
from surveys.views.authoring.draft_page import REFUSED, page_or_form, posted_to

MANY = "You have sent too many invitations. Wait an hour and try again."
_VALID = f"The invitation is valid for {invitations.VALID_FOR}"
MAILED = f"An email with the invitation is on its way. {_VALID}."
NOT_MAILED = f"{_VALID}, but this installation sends no email."


@page_or_form
@needs(Action.PEOPLE)
def people(request: HttpRequest, survey: Survey) -> HttpResponse:
    """Show who has a role; the form on the page invites someone."""
    form = InviteForm(posted_to(request), initial={"role": Role.ANALYST})
    if form.is_valid() and send_invitation(request, form, survey=survey):
        return redirect("surveys:people", slug=survey.slug)
    context = {
        "survey": survey,
        "form": form,
        "members": survey.memberships.select_related("account").order_by("-role", "account__email"),
        "teams": survey.teams.select_related("team").order_by("team__name", "pk"),
        "invitations": survey.invitations.order_by("address"),
        "attach_form": AttachForm(survey=survey, account=account_of(request).pk),
        "roles": Role.choices,
        "remove": REMOVE,
    }
    status = REFUSED if form.errors else 200
    return render(request, "surveys/people/people.html", context, status=status)


def send_invitation(request: HttpRequest, form: InviteForm, **target: object) -> bool:
    """Invite the person in the form. If this fails, add an error to the form and return False."""
    account = account_of(request).pk
    if not ratelimit.consume(request, action="invitation", key=str(account)):
        form.add_error("address", MANY)
        return False
    try:
        invitations.invite(**form.cleaned_data, by=account, **target)  # type: ignore[arg-type]
    except PeopleError as error:
        form.add_error("address", str(error))
        return False
    mail = build_mail_context(request)
    if mail["mails_are_sent"]:
        messages.success(request, MAILED)
    elif place := mail["mail_place"]:
        messages.warning(request, f"{NOT_MAILED} Murmur writes the link to {place}.")
    else:
        messages.warning(request, f"{NOT_MAILED} Ask the person who runs it for the link.")
    return True


def attempt(request: HttpRequest, change: Callable[[], object], done: str) -> bool:
    """Make a change and confirm it, or say why nothing was changed."""
    try:
        change()
    except PeopleError as error:
        messages.error(request, str(error))
        return False
    messages.success(request, done)
    return True


def back(request: HttpRequest, survey: Survey) -> HttpResponse:
    """Go back to the page “People”, or home if the account has just given up its role."""
    if can(request.user, Action.PEOPLE, survey):
        return redirect("surveys:people", slug=survey.slug)
    return redirect("aggregator:home")


@require_POST
@needs(Action.PEOPLE)
def change(request: HttpRequest, survey: Survey, pk: int) -> HttpResponse:
    """Give a member another role, or remove the member."""
    member = get_object_or_404(Membership, pk=pk, survey=survey)
    change_role(
        request,
        lambda role: members.set_role(
            survey=survey, account=member.account_id, role=role, by=account_of(request).pk
        ),
        lambda: members.remove(survey=survey, account=member.account_id, by=account_of(request).pk),
    )
    return back(request, survey)


def change_role(
    request: HttpRequest, change: Callable[[Role], None], remove: Callable[[], None]
) -> None:
    form = RoleForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Choose a role from the list. Nothing was changed.")
        return
    role = form.chosen
    if role is None:
        attempt(request, remove, "The person was removed.")
    else:
        attempt(request, lambda: change(role), "The role was changed.")


@require_POST
@needs(Action.PEOPLE)
def change_team(request: HttpRequest, survey: Survey) -> HttpResponse:
    """Attach the posted team, or detach it."""
    account = account_of(request).pk
    if "detach" in request.POST:
        number = request.POST["detach"]
        is_number = number.isdecimal() and len(number) < 20
        found = survey.teams.filter(team=int(number) if is_number else 0).first()
        if found is not None:
            attempt(
                request,
                lambda: teams.detach(survey=survey, team=found.team, by=account),
                "The team was detached.",
            )
        return back(request, survey)
    form = AttachForm(request.POST, survey=survey, account=account)
    if form.is_valid():
        team = form.cleaned_data["team"]
        attempt(
            request,
            lambda: teams.attach(survey=survey, team=team, by=account),
            "The team was attached.",
        )
    else:
        messages.error(request, "Choose one of your teams. Nothing was changed.")
    return back(request, survey)


@require_POST
@needs(Action.PEOPLE)
def withdraw(request: HttpRequest, survey: Survey, pk: int) -> HttpResponse:
    invitation = get_object_or_404(Invitation, pk=pk, survey=survey)
    attempt(
        request,
        lambda: invitations.withdraw(invitation=invitation, by=account_of(request).pk),
        "The invitation was withdrawn.",
    )
    return back(request, survey)


@page_or_form
@needs(Action.PEOPLE)
def hand_over(request: HttpRequest, survey: Survey) -> HttpResponse:
    """Let the account choose who becomes the owner in its place."""
    people = find_colleagues(account_of(request).pk)
    form = SuccessorForm(posted_to(request), people=people)
    if form.is_valid():
        new: User = form.cleaned_data["account"]
        attempt(
            request,
            lambda: members.hand_over(survey=survey, to=new.pk, by=account_of(request).pk),
            "The survey was handed over.",
        )
        return back(request, survey)
    context = {"survey": survey, "form": form, "people": people}
    status = REFUSED if form.errors else 200
    return render(request, "surveys/people/hand_over.html", context, status=status)


@page_or_form
@needs(Action.READ)
def leave(request: HttpRequest, survey: Survey) -> HttpResponse:
    """Show the user's own role on the survey, and let the user give it up."""
    account = account_of(request).pk
    if request.method == "POST":
        attempt(
            request,
            lambda: members.remove(survey=survey, account=account, by=account),
            "You no longer have a role of your own on this survey.",
        )
        return redirect("aggregator:home")
    found = TeamMember.objects.filter(account=account, team__attachments__survey=survey)
    context = {
        "survey": survey,
        "role": survey.role.label.lower() if survey.role else "",
        "is_member": survey.memberships.filter(account=account).exists(),
        "teams": [member.team for member in found.select_related("team")],
    }
    return render(request, "surveys/people/leave_survey.html", context)
