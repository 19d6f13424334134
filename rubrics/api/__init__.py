"""The API doors of benchmarks, cases, candidates, responses and imports."""

from django.urls import URLPattern, path

from rubrics.api import bank_doors, doors, drafts, writing
from rubrics.audits.urls import api_urlpatterns as audit_doors
from rubrics.version_urls import api_urlpatterns as version_doors

urlpatterns: list[URLPattern] = [
    path("benchmarks/", doors.benchmarks, name="api-benchmarks"),
    path("benchmarks/<slug:slug>/", doors.benchmark, name="api-benchmark"),
    path("benchmarks/<slug:slug>/cases/", doors.cases, name="api-cases"),
    path("benchmarks/<slug:slug>/cases/<str:public_id>/", doors.case, name="api-case"),
    path("benchmarks/<slug:slug>/cases/<str:public_id>/draft/", drafts.draft, name="api-draft"),
    path("benchmarks/<slug:slug>/cases/<str:public_id>/draft/lint/", drafts.draft_lint, name="api-draft-lint"),
    path("benchmarks/<slug:slug>/cases/<str:public_id>/draft/table/", drafts.draft_table, name="api-draft-table"),
    path("benchmarks/<slug:slug>/candidates/", doors.candidates, name="api-candidates"),
    path("benchmarks/<slug:slug>/candidates/<str:public_id>/", doors.candidate, name="api-candidate"),
    path("benchmarks/<slug:slug>/responses/", doors.responses, name="api-responses"),
    path("benchmarks/<slug:slug>/responses/<str:public_id>/", doors.response, name="api-response"),
    path("benchmarks/<slug:slug>/bank/", bank_doors.bank, name="api-bank"),
    path("benchmarks/<slug:slug>/banks/", bank_doors.banks, name="api-banks"),
    path("benchmarks/<slug:slug>/imports/", doors.imports, name="api-imports"),
    path("benchmarks/<slug:slug>/imports/<str:public_id>/", doors.import_job, name="api-import"),
    path("benchmarks/<slug:slug>/imports/<str:public_id>/restart/", doors.import_restart, name="api-import-restart"),
    path("benchmarks/<slug:slug>/write/", writing.cases, name="api-write-cases"),
    path("benchmarks/<slug:slug>/write/<str:public_id>/", writing.case, name="api-write-case"),
    path("benchmarks/<slug:slug>/write/<str:public_id>/privacy/", writing.privacy, name="api-write-privacy"),
    path("benchmarks/<slug:slug>/authors/", writing.authors, name="api-authors"),
    path("benchmarks/<slug:slug>/authors/<int:role>/", writing.author, name="api-author"),
    *audit_doors,
    *version_doors,
]
