"""allauth's pages for the second factor, which lead to the account page."""

from __future__ import annotations

from typing import Any

from allauth.mfa.models import Authenticator
from allauth.mfa.totp.views import ActivateTOTPView, DeactivateTOTPView
from django.conf import settings
from django.contrib import messages
from django.db import IntegrityError, transaction
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse, reverse_lazy

from accounts.second_factor.forms import SetUpForm, make_secret
from accounts.second_factor.keys import UnreadableSecret, decrypt, encrypt
from accounts.sessions import end_sessions
from accounts.tokens import end_tokens

# The secret that is being set up. It is encrypted, because the database stores sessions.
PENDING = "second_factor_pending"


class SetUpView(ActivateTOTPView):  # type: ignore[misc]  # allauth ships no types
    def get_form_class(self) -> type[SetUpForm]:
        return SetUpForm

    def get_form_kwargs(self) -> dict[str, Any]:
        kwargs: dict[str, Any] = super().get_form_kwargs()
        return kwargs | {"secret": self._find_secret()}

    def _find_secret(self) -> str:
        """Return the same secret until it is used, even after a wrong code or a reload."""
        try:
            return decrypt(self.request.session[PENDING])
        except (KeyError, UnreadableSecret):
            secret = make_secret()
            self.request.session[PENDING] = encrypt(secret)
            return secret

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**kwargs)
        secret = context["form"].secret
        groups = " ".join(secret[at : at + 4] for at in range(0, len(secret), 4))
        return context | {"typed_secret": groups, "is_required": settings.SECOND_FACTOR_REQUIRED}

    def form_valid(self, form: SetUpForm) -> HttpResponse:
        try:
            with transaction.atomic():
                response: HttpResponse = super().form_valid(form)
                app = Authenticator.objects.get(
                    user=self.request.user, type=Authenticator.Type.TOTP
                )
                app.data["last_step"] = form.step  # this code must not also sign in
                app.save(update_fields=["data"])
        except IntegrityError:  # the form was sent twice at the same moment
            return redirect("account")
        del self.request.session[PENDING]
        self.request.session.cycle_key()
        # Someone who signed in without a code must not stay signed in.
        end_sessions(self.request.user, keep=self.request.session.session_key)
        end_tokens(self.request.user)
        return response

    def get_success_url(self) -> str:
        return reverse("mfa_view_recovery_codes")


class TurnOffView(DeactivateTOTPView):  # type: ignore[misc]
    success_url = reverse_lazy("account")

    def form_valid(self, form: Any) -> HttpResponse:
        response: HttpResponse = super().form_valid(form)
        messages.success(self.request, "Your second factor is off.")
        return response
