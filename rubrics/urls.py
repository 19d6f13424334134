"""Routes of benchmarks and of their cases, candidates, imports and settings."""

from django.urls import URLPattern, path

from rubrics.audits.urls import urlpatterns as audit_endpoints
from rubrics.editor import beside_views as write_beside
from rubrics.editor import case_views as write_case
from rubrics.editor import dashboard_views as write_dashboard
from rubrics.editor.urls import urlpatterns as editor_urls
from rubrics.versions import revision_views as revisions
from rubrics.versions.urls import urlpatterns as version_urls
from rubrics.views import (
    authors,
    bank,
    bank_clusters,
    benchmarks,
    candidates,
    cases,
    exclusion,
    imports,
    invitations,
    people,
)

app_name = "rubrics"
urlpatterns: list[URLPattern] = [
    path("benchmarks/", benchmarks.benchmarks, name="benchmarks"),
    path("benchmarks/new/", benchmarks.new_benchmark, name="benchmark-new"),
    path("b/<slug:slug>/", benchmarks.benchmark_overview, name="overview"),
    path("b/<slug:slug>/settings/", benchmarks.settings, name="settings"),
    path("b/<slug:slug>/settings/rules/", benchmarks.rules, name="rules"),
    path("b/<slug:slug>/settings/maps/", benchmarks.maps, name="maps"),
    path("b/<slug:slug>/settings/maps.csv", benchmarks.maps_csv, name="maps-csv"),
    path("b/<slug:slug>/people/", people.people, name="people"),
    path("b/<slug:slug>/people/<int:role>/withdraw/", people.withdraw, name="person-withdraw"),
    path("b/<slug:slug>/people/authors/", authors.authors, name="authors"),
    path("b/<slug:slug>/people/authors/<int:role>/withdraw/", authors.withdraw, name="author-withdraw"),
    *editor_urls,
    *version_urls,
    path("b/<slug:slug>/write/", write_dashboard.dashboard_page, name="write"),
    path("b/<slug:slug>/write.csv", write_dashboard.dashboard_csv, name="write-csv"),
    path("b/<slug:slug>/write/new/", write_case.new_case, name="write-new"),
    path("b/<slug:slug>/write/<str:public_id>/", write_case.write_case, name="write-case"),
    path("b/<slug:slug>/write/<str:public_id>/save/", write_case.save, name="write-case-save"),
    path("b/<slug:slug>/write/<str:public_id>/preview/", write_case.preview, name="write-preview"),
    path("b/<slug:slug>/write/<str:public_id>/erratum/", write_case.erratum, name="write-erratum"),
    path("b/<slug:slug>/write/<str:public_id>/delete/", write_case.delete, name="write-delete"),
    path("b/<slug:slug>/write/<str:public_id>/time/", write_beside.time, name="write-time"),
    path("b/<slug:slug>/write/<str:public_id>/privacy/", write_beside.waive, name="write-waive"),
    path("b/<slug:slug>/write/<str:public_id>/privacy/<int:waiver>/", write_beside.ask_again, name="write-ask-again"),
    path("b/<slug:slug>/bank/", bank.bank, name="bank"),
    path("b/<slug:slug>/bank.csv", bank.bank_csv, name="bank-csv"),
    path("b/<slug:slug>/bank/search/", bank.bank_search, name="bank-search"),
    path("b/<slug:slug>/bank/clusters/", bank_clusters.bank_clusters, name="bank-clusters"),
    path("b/<slug:slug>/bank/own/", bank.banks, name="banks"),
    path("b/<slug:slug>/bank/own/<slug:bank>/use/", bank.bank_use, name="bank-use"),
    path("b/<slug:slug>/bank/files/<slug:bank>.<slug:ending>", bank.bank_export, name="bank-export"),
    path("b/<slug:slug>/bank/items/<slug:bank>/<str:key>/", bank.bank_item, name="bank-item"),
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
    *audit_endpoints,
]
