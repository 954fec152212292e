"""The account page: cards about the user's own account, and the pages they link to.

To add a card, write `templates/account/cards/NAME.html`, add its name to CARDS, and add its data to
`_build_context`. A card has at most 30 words.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from allauth.account.decorators import reauthentication_required
from allauth.core import ratelimit
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from accounts import audit
from accounts.address.changing import Confirmed, ask_for_change, cancel_change, confirm
from accounts.forms import NameForm, NewAddressForm, TokenForm
from accounts.mail.address_links import find_change, read_link
from accounts.models import User
from accounts.second_factor.state import find_second_factor
from accounts.sessions import end_sessions, list_sessions
from accounts.tokens import MadeAlready, TokenRefused, list_tokens, make_token, revoke_token
from accounts.views import build_mail_context

CARDS = ("name", "address", "password", "second_factor", "sessions", "tokens", "teams", "leave")

Page = Callable[..., HttpResponse]


def confirmed(view: Page) -> Page:
    """Ask for the second factor, or else the password, if neither was entered just now."""
    return cast(Page, reauthentication_required(view))


show = require_http_methods(["GET", "HEAD", "POST"])


def _account_of(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user


def _posted(request: HttpRequest) -> QueryDict | None:
    return request.POST if request.method == "POST" else None


@show
@login_required
def account(request: HttpRequest) -> HttpResponse:
    """Show all cards, and save the name that the form on the page posts."""
    user = _account_of(request)
    form = NameForm(_posted(request), initial={"name": user.name})
    if form.is_valid():
        user.name = form.cleaned_data["name"]
        user.save(update_fields=["name"])
        messages.success(request, "Your name was saved.")
        return redirect("account")
    context = {"form": form, **_build_context(request, user)}
    return render(request, "account/account.html", context, status=422 if form.errors else 200)


def _build_context(request: HttpRequest, user: User) -> dict[str, Any]:
    return {
        "cards": [f"account/cards/{name}.html" for name in CARDS],
        "change": find_change(account=user.pk),
        "second_factor": find_second_factor(user),
        "sessions": list_sessions(user, current=request.session.session_key),
        "tokens": list_tokens(user),
    }


@show
@login_required
@confirmed
def change_address(request: HttpRequest) -> HttpResponse:
    user = _account_of(request)
    form = NewAddressForm(_posted(request), user=user)
    if form.is_valid():
        if not ratelimit.consume(request, action="address_mail", key=str(user.pk)):
            form.add_error("email", "You asked for too many emails. Wait an hour and try again.")
        else:
            ask_for_change(user=user, new_email=form.cleaned_data["email"])
            return redirect("account")
    context = {"form": form, **build_mail_context(request)}
    return render(request, "account/address.html", context, status=422 if form.errors else 200)


@require_POST
@login_required
def keep_address(request: HttpRequest) -> HttpResponse:
    cancel_change(_account_of(request))
    messages.success(request, "Your address stays as it is.")
    return redirect("account")


@show
def confirm_address(request: HttpRequest, token: str) -> HttpResponse:
    """Confirm with a button, because programs that scan emails open links."""
    found = read_link(token)
    state = ""
    if found is None:
        state = Confirmed.INVALID.value
    elif request.method == "POST":
        state = confirm(token).value
    context = {"state": state, "change": found[0] if found else None}
    return render(request, "account/address_confirm.html", context)


@require_POST
@login_required
def end_session(request: HttpRequest) -> HttpResponse:
    """End the session with the posted name, or all other sessions if no name was posted."""
    user = _account_of(request)
    name = request.POST.get("session", "")
    ended = end_sessions(user, keep=request.session.session_key, only=name)
    if ended:
        audit.record("sessions-ended", account=user.pk, sessions=str(ended))
    said = "The session was ended." if name else "All other sessions were ended."
    messages.success(request, said)
    return redirect("account")


@show
@login_required
@confirmed
def new_token(request: HttpRequest) -> HttpResponse:
    """Make a token and show it only in this reply, because a session would store it."""
    form = TokenForm(_posted(request))
    context: dict[str, Any] = {"form": form}
    status = 200
    if form.is_valid():
        replaced = _read_number(request.POST.get("replaced", ""))
        try:
            made, text = make_token(
                user=_account_of(request), **form.cleaned_data, replaced=replaced
            )
            context |= {"token": made, "text": text}
        except MadeAlready as error:
            context |= {"made": error.token}
            status = 409
        except TokenRefused as error:
            form.add_error("name", str(error))
    return render(request, "account/token.html", context, status=422 if form.errors else status)


@require_POST
@login_required
def end_token(request: HttpRequest) -> HttpResponse:
    number = _read_number(request.POST.get("token", ""))
    if number is not None and revoke_token(_account_of(request), pk=number):
        messages.success(request, "The token was revoked.")
    return redirect("account")


def _read_number(text: str) -> int | None:
    """Return the text as a row number, or None if it is not one."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None
