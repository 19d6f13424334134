"""Routes of the code book."""

from django.urls import URLPattern, path

from rubrics.codes import views

urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/codes/", views.codes, name="codes"),
    path("b/<slug:slug>/codes/adopt/", views.adopt, name="codes-adopt"),
    path("b/<slug:slug>/codes/new/", views.code, name="code-new"),
    path("b/<slug:slug>/codes/versions/<int:version>/", views.version, name="codes-version"),
    path("b/<slug:slug>/codes/versions/<int:version>.<slug:ending>", views.export, name="codes-export"),
    path("b/<slug:slug>/codes/code/<slug:key>/", views.code, name="code"),
    path("b/<slug:slug>/codes/code/<slug:key>/remove/", views.remove, name="code-remove"),
]
