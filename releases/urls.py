"""Routes of releases: the list, the form, and one release with its files."""

from django.urls import URLPattern, path

from releases.views import pages

app_name = "releases"
_ONE = "b/<slug:slug>/releases/<str:public_id>/"
urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/releases/", pages.releases, name="releases"),
    path("b/<slug:slug>/releases/new/", pages.new_release, name="release-new"),
    path(_ONE, pages.release, name="release"),
    path(f"{_ONE}progress", pages.progress, name="release-progress"),
    path(f"{_ONE}restart", pages.restart, name="release-restart"),
    path(f"{_ONE}release.zip", pages.archive, name="release-archive"),
    path(f"{_ONE}files.csv", pages.files_csv, name="release-files"),
    path(f"{_ONE}changes.csv", pages.changes_csv, name="release-changes"),
]
