"""The API endpoints of benchmarks, cases, candidates, responses and imports."""

from django.urls import URLPattern, path

from rubrics.api import banks, benchmarks
from rubrics.audits.urls import api_urlpatterns as audit_endpoints
from rubrics.editor import cases_api as writing
from rubrics.editor import drafts_api as drafts
from rubrics.versions.urls import api_urlpatterns as version_endpoints

urlpatterns: list[URLPattern] = [
    path("benchmarks/", benchmarks.benchmarks, name="api-benchmarks"),
    path("benchmarks/<slug:slug>/", benchmarks.benchmark, name="api-benchmark"),
    path("benchmarks/<slug:slug>/cases/", benchmarks.cases, name="api-cases"),
    path("benchmarks/<slug:slug>/cases/<str:public_id>/", benchmarks.case, name="api-case"),
    path("benchmarks/<slug:slug>/cases/<str:public_id>/draft/", drafts.draft, name="api-draft"),
    path("benchmarks/<slug:slug>/cases/<str:public_id>/draft/lint/", drafts.draft_lint, name="api-draft-lint"),
    path("benchmarks/<slug:slug>/cases/<str:public_id>/draft/table/", drafts.draft_table, name="api-draft-table"),
    path("benchmarks/<slug:slug>/candidates/", benchmarks.candidates, name="api-candidates"),
    path("benchmarks/<slug:slug>/candidates/<str:public_id>/", benchmarks.candidate, name="api-candidate"),
    path("benchmarks/<slug:slug>/responses/", benchmarks.responses, name="api-responses"),
    path("benchmarks/<slug:slug>/responses/<str:public_id>/", benchmarks.response, name="api-response"),
    path("benchmarks/<slug:slug>/bank/", banks.bank, name="api-bank"),
    path("benchmarks/<slug:slug>/banks/", banks.banks, name="api-banks"),
    path("benchmarks/<slug:slug>/imports/", benchmarks.imports, name="api-imports"),
    path("benchmarks/<slug:slug>/imports/<str:public_id>/", benchmarks.import_job, name="api-import"),
    path(
        "benchmarks/<slug:slug>/imports/<str:public_id>/restart/", benchmarks.import_restart, name="api-import-restart"
    ),
    path("benchmarks/<slug:slug>/write/", writing.cases, name="api-write-cases"),
    path("benchmarks/<slug:slug>/write/<str:public_id>/", writing.case, name="api-write-case"),
    path("benchmarks/<slug:slug>/write/<str:public_id>/privacy/", writing.privacy, name="api-write-privacy"),
    path("benchmarks/<slug:slug>/authors/", writing.authors, name="api-authors"),
    path("benchmarks/<slug:slug>/authors/<int:role>/", writing.author, name="api-author"),
    *audit_endpoints,
    *version_endpoints,
]
