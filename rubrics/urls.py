"""Benchmarks, and what stands in one: cases, candidates, imports, settings."""

from django.urls import URLPattern, path

from rubrics.views import benchmarks, candidates, cases, imports, invitations, people, revisions

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
    path("b/<slug:slug>/invitations/", invitations.invite, name="invite"),
    path("b/<slug:slug>/invitations/<str:public_id>/again/", invitations.send_again, name="invitation-again"),
    path("b/<slug:slug>/invitations/<str:public_id>/withdraw/", invitations.withdraw, name="invitation-withdraw"),
    path("b/<slug:slug>/cases/", cases.cases, name="cases"),
    path("b/<slug:slug>/cases.csv", cases.cases_csv, name="cases-csv"),
    path("b/<slug:slug>/cases/<str:public_id>/", cases.case, name="case"),
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
