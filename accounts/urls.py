"""The account page, and the few allauth pages that Murmur offers."""

from allauth.account import views
from allauth.mfa.base import views as codes
from allauth.mfa.recovery_codes import views as recovery_codes
from django.urls import path, re_path
from django.views.decorators.http import require_http_methods

from accounts import account_page
from accounts.second_factor.views import SetUpView, TurnOffView
from accounts.views import ChangePasswordView, NewPasswordView, ResetDoneView, ResetView

# allauth's views treat PUT as POST; pages need only these methods.
page = require_http_methods(["GET", "HEAD", "POST"])

urlpatterns = [
    path("", account_page.account, name="account"),
    path("address/", account_page.change_address, name="account_address"),
    path("address/keep/", account_page.keep_address, name="account_address_keep"),
    path("address/key/<str:token>/", account_page.confirm_address, name="account_address_confirm"),
    path("sessions/end/", account_page.end_session, name="account_end_session"),
    path("tokens/new/", account_page.new_token, name="account_token"),
    path("tokens/revoke/", account_page.end_token, name="account_token_revoke"),
    path("second-factor/", page(SetUpView.as_view()), name="mfa_activate_totp"),
    path("second-factor/off/", page(TurnOffView.as_view()), name="mfa_deactivate_totp"),
    path("second-factor/code/", page(codes.authenticate), name="mfa_authenticate"),
    path("second-factor/confirm/", page(codes.reauthenticate), name="mfa_reauthenticate"),
    path(
        "recovery-codes/", page(recovery_codes.view_recovery_codes), name="mfa_view_recovery_codes"
    ),
    path(
        "recovery-codes/new/",
        page(recovery_codes.generate_recovery_codes),
        name="mfa_generate_recovery_codes",
    ),
    path("login/", page(views.login), name="account_login"),
    path("logout/", page(views.logout), name="account_logout"),
    path("inactive/", page(views.account_inactive), name="account_inactive"),
    path("reauthenticate/", page(views.reauthenticate), name="account_reauthenticate"),
    path("password/change/", page(ChangePasswordView.as_view()), name="account_change_password"),
    path("password/reset/", page(ResetView.as_view()), name="account_reset_password"),
    path("password/reset/done/", page(ResetDoneView.as_view()), name="account_reset_password_done"),
    re_path(
        r"^password/reset/key/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$",
        page(NewPasswordView.as_view()),
        name="account_reset_password_from_key",
    ),
    path(
        "password/reset/key/done/",
        page(views.password_reset_from_key_done),
        name="account_reset_password_from_key_done",
    ),
]
