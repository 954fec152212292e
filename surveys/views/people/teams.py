"""Pages about the account's teams, with their members and invitations."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.db.models import Count, Subquery
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from surveys.access import account_of
from surveys.models import Invitation, Role, Team, TeamMember
from surveys.models.people import find_role_in
from surveys.people import invitations, teams
from surveys.people.forms import REMOVE, InviteForm, RoleForm, TeamForm
from surveys.views.authoring.draft_page import REFUSED, page_or_form, posted_to
from surveys.views.people.members import attempt, change_role, send_invitation

FULL = f"You are in {teams.MOST_TEAMS} teams. Leave one before you make another."


def _find_team(request: HttpRequest, pk: int, *, owns: bool = False) -> Team:
    """Return a team if the account is in it (and owns it, if `owns`), or else raise Http404."""
    team = get_object_or_404(Team, pk=pk)
    role = find_role_in(account=account_of(request).pk, team=team.pk)
    if role is None or (owns and role != Role.OWNER):
        raise Http404
    return team


@page_or_form
@login_required
def list_teams(request: HttpRequest) -> HttpResponse:
    """Show the account's teams; the form on the page creates a team."""
    mine = TeamMember.objects.filter(account=account_of(request).pk)
    form = TeamForm(posted_to(request))
    if form.is_valid():
        if mine.count() < teams.MOST_TEAMS:
            team = teams.create_team(name=form.cleaned_data["name"], account=account_of(request).pk)
            return redirect("surveys:team", pk=team.pk)
        form.add_error("name", FULL)
    found = Team.objects.filter(pk__in=Subquery(mine.values("team"))).annotate(
        people=Count("members", distinct=True), surveys=Count("attachments", distinct=True)
    )
    context = {"form": form, "teams": found}
    status = REFUSED if form.errors else 200
    return render(request, "surveys/people/teams.html", context, status=status)


@page_or_form
@login_required
def show_team(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the members of a team; its owners invite people on this page."""
    team = _find_team(request, pk, owns=request.method == "POST")
    form = InviteForm(posted_to(request), initial={"role": Role.ANALYST})
    if form.is_valid() and send_invitation(request, form, team=team):
        return redirect("surveys:team", pk=team.pk)
    context = {
        "team": team,
        "form": form,
        "members": team.members.select_related("account").order_by("-role", "account__email"),
        "invitations": team.invitations.order_by("address"),
        "surveys": team.attachments.count(),
        "owns": find_role_in(account=account_of(request).pk, team=team.pk) == Role.OWNER,
        "roles": Role.choices,
        "remove": REMOVE,
    }
    status = REFUSED if form.errors else 200
    return render(request, "surveys/people/team.html", context, status=status)


@require_POST
@login_required
def change(request: HttpRequest, pk: int, member: int) -> HttpResponse:
    """Give a member another role or remove the member; everyone may remove themselves."""
    team = _find_team(request, pk)
    found = get_object_or_404(TeamMember, pk=member, team=team)
    by = account_of(request).pk
    if found.account_id != by or RoleForm(request.POST).data.get("role") != REMOVE:
        _find_team(request, pk, owns=True)
    change_role(
        request,
        lambda role: teams.set_team_role(team=team, account=found.account_id, role=role, by=by),
        lambda: teams.remove_from_team(team=team, account=found.account_id, by=by),
    )
    if find_role_in(account=by, team=pk) is None:
        return redirect("surveys:teams")
    return redirect("surveys:team", pk=pk)


@require_POST
@login_required
def withdraw(request: HttpRequest, pk: int, invitation: int) -> HttpResponse:
    team = _find_team(request, pk, owns=True)
    found = get_object_or_404(Invitation, pk=invitation, team=team)
    attempt(
        request,
        lambda: invitations.withdraw(invitation=found, by=account_of(request).pk),
        "The invitation was withdrawn.",
    )
    return redirect("surveys:team", pk=pk)


@page_or_form
@login_required
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    team = _find_team(request, pk, owns=True)
    if request.method == "POST":
        attempt(
            request,
            lambda: teams.delete_team(team=team, by=account_of(request).pk),
            "The team was deleted. Its surveys stay.",
        )
        return redirect("surveys:teams")
    context = {"team": team, "surveys": team.attachments.count()}
    return render(request, "surveys/people/delete_team.html", context)
