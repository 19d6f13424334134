"""API routes of cases and rubrics that are being written, and of authors."""

from django.urls import URLPattern, path

from rubrics.editor import cases_api, drafts_api

urlpatterns: list[URLPattern] = [
    path("benchmarks/<slug:slug>/cases/<str:public_id>/draft/", drafts_api.draft, name="api-draft"),
    path("benchmarks/<slug:slug>/cases/<str:public_id>/draft/lint/", drafts_api.draft_lint, name="api-draft-lint"),
    path("benchmarks/<slug:slug>/cases/<str:public_id>/draft/table/", drafts_api.draft_table, name="api-draft-table"),
    path("benchmarks/<slug:slug>/write/", cases_api.cases, name="api-write-cases"),
    path("benchmarks/<slug:slug>/write/<str:public_id>/", cases_api.case, name="api-write-case"),
    path("benchmarks/<slug:slug>/write/<str:public_id>/privacy/", cases_api.privacy, name="api-write-privacy"),
    path("benchmarks/<slug:slug>/authors/", cases_api.authors, name="api-authors"),
    path("benchmarks/<slug:slug>/authors/<int:role>/", cases_api.author, name="api-author"),
]
