"""All routes: pages at the root, the API under ``/api/v1/``, signing in under ``/accounts/``."""

from django.urls import URLPattern, URLResolver, include, path
from django.views.generic import RedirectView
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from accounts.views import first_run, own, second_step, sign_on
from config import api_scopes
from consilium.security_contact import security_txt
from consilium.views import rule_endpoint
from operations.views import health

api_urlpatterns: list[URLPattern | URLResolver] = [
    path("schema/", SpectacularAPIView.as_view(), name="schema"),
    path("docs/", SpectacularSwaggerSplitView.as_view(url_name="api:schema"), name="docs"),
    path("", include("accounts.api_urls")),
    path("", include("rubrics.api_urls")),
    path("", include("documents.api_urls")),
    path("", include("annotation.api_urls")),
    path("", include("scoring.api_urls")),
    path("", include("drafting.api_urls")),
    path("", include("validation.api_urls")),
    path("", include("agreement.api_urls")),
    path("", include("releases.api_urls")),
    path("", include("operations.api_urls")),
]

api_scopes.require_declared(api_urlpatterns)

handler400 = "consilium.views.bad_request"
handler404 = "consilium.views.page_not_found"
handler500 = "consilium.views.server_error"

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", health.healthz, name="healthz"),
    path("metrics", health.prometheus, name="metrics"),
    path(".well-known/security.txt", security_txt, name="security-txt"),
    path("rules/", rule_endpoint, name="rule-endpoint"),
    # An admin gives people their address, which identifies them: nobody may change the address by themselves.
    path("accounts/email/", RedirectView.as_view(pattern_name="accounts:profile"), name="account_email"),
    # An identity of single sign-on is disconnected by the operator; allauth's page would let any open session do it.
    path("accounts/3rdparty/", RedirectView.as_view(pattern_name="accounts:profile"), name="socialaccount_connections"),
    path("accounts/oidc/<str:provider_id>/login/", sign_on.begin, name="openid_connect_login"),
    path("accounts/oidc/<str:provider_id>/login/callback/", sign_on.callback, name="openid_connect_callback"),
    path("accounts/password/set/", own.set_password, name="account_set_password"),
    path("accounts/login/", first_run.sign_in, name="account_login"),
    path("accounts/2fa/webauthn/keys/<int:pk>/remove/", second_step.remove_key, name="mfa_remove_webauthn"),
    path("accounts/2fa/totp/deactivate/", second_step.remove_app, name="mfa_deactivate_totp"),
    path("accounts/", include("allauth.urls")),
    path("i18n/setlang/", own.set_language, name="set_language"),
    path("api/v1/", include((api_urlpatterns, "api"))),
    path("", include("accounts.urls")),
    path("", include("rubrics.urls")),
    path("", include("documents.urls")),
    path("", include("annotation.urls")),
    path("", include("scoring.urls")),
    path("", include("drafting.urls")),
    path("", include("validation.urls")),
    path("", include("agreement.urls")),
    path("", include("releases.urls")),
    path("", include("operations.urls")),
]
