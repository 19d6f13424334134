"""API routes of a person's own account."""

from django.urls import URLPattern, URLResolver, path

from accounts import api

urlpatterns: list[URLPattern | URLResolver] = [
    path("account/sessions/", api.sessions, name="api-sessions"),
    path("account/sessions/<str:number>/", api.session, name="api-session"),
    path("account/tokens/", api.tokens, name="api-tokens"),
    path("account/tokens/<str:public_id>/", api.token, name="api-token"),
]
