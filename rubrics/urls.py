"""Benchmarks, and what stands in one: cases, candidates, imports, settings."""

from django.urls import URLPattern, path

from rubrics.views import (
    authors,
    benchmarks,
    candidates,
    cases,
    exclusion,
    imports,
    invitations,
    people,
    revisions,
    write_desk,
)

app_name = "rubrics"
urlpatterns: list[URLPattern] = [
    path("benchmarks/", benchmarks.benchmarks, name="benchmarks"),
    path("benchmarks/new/", benchmarks.new_benchmark, name="benchmark-new"),
    path("b/<slug:slug>/", benchmarks.benchmark_overview, name="overview"),
    path("b/<slug:slug>/settings/", benchmarks.settings, name="settings"),
    path("b/<slug:slug>/settings/maps/", benchmarks.maps, name="maps"),
    path("b/<slug:slug>/settings/maps.csv", benchmarks.maps_csv, name="maps-csv"),
    path("b/<slug:slug>/people/", people.people, name="people"),
    path("b/<slug:slug>/people/<int:role>/withdraw/", people.withdraw, name="person-withdraw"),
    path("b/<slug:slug>/people/authors/", authors.authors, name="authors"),
    path("b/<slug:slug>/people/authors/<int:role>/withdraw/", authors.withdraw, name="author-withdraw"),
    path("b/<slug:slug>/write/", write_desk.desk_page, name="write"),
    path("b/<slug:slug>/write.csv", write_desk.desk_csv, name="write-csv"),
    path("b/<slug:slug>/invitations/", invitations.invite, name="invite"),
    path("b/<slug:slug>/invitations/<str:public_id>/again/", invitations.send_again, name="invitation-again"),
    path("b/<slug:slug>/invitations/<str:public_id>/withdraw/", invitations.withdraw, name="invitation-withdraw"),
    path("b/<slug:slug>/cases/", cases.cases, name="cases"),
    path("b/<slug:slug>/cases.csv", cases.cases_csv, name="cases-csv"),
    path("b/<slug:slug>/cases/excluded/", exclusion.excluded_cases, name="excluded"),
    path("b/<slug:slug>/cases/excluded.csv", exclusion.excluded_csv, name="excluded-csv"),
    path("b/<slug:slug>/cases/<str:public_id>/", cases.case, name="case"),
    path("b/<slug:slug>/cases/<str:public_id>/exclude/", exclusion.exclude, name="case-exclude"),
    path("b/<slug:slug>/cases/<str:public_id>/restore/", exclusion.restore, name="case-restore"),
    path("b/<slug:slug>/revisions/", revisions.revisions, name="revisions"),
    path("b/<slug:slug>/revisions.csv", revisions.revisions_csv, name="revisions-csv"),
    path("b/<slug:slug>/revisions/dismiss/", revisions.dismiss, name="revision-dismiss"),
    path("b/<slug:slug>/candidates/", candidates.candidates, name="candidates"),
    path("b/<slug:slug>/candidates/<str:public_id>/", candidates.candidate, name="candidate"),
    path("b/<slug:slug>/imports/", imports.imports, name="imports"),
    path("b/<slug:slug>/imports/<str:public_id>/", imports.import_job, name="import"),
    path("b/<slug:slug>/imports/<str:public_id>/state/", imports.import_state, name="import-state"),
    path("b/<slug:slug>/imports/<str:public_id>/restart/", imports.import_restart, name="import-restart"),
    path("b/<slug:slug>/imports/<str:public_id>/faults.csv", imports.import_errors_csv, name="import-faults"),
]
