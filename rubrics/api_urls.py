"""API routes of benchmarks, cases, candidates, responses, banks and imports."""

from django.urls import URLPattern, URLResolver, include, path

from rubrics.api import banks, benchmarks, second_step, staff

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("rubrics.audits.api_urls")),
    path("", include("rubrics.codes.api_urls")),
    path("", include("rubrics.editor.api_urls")),
    path("", include("rubrics.versions.api_urls")),
    path("benchmarks/", benchmarks.benchmarks, name="api-benchmarks"),
    path("benchmarks/<slug:slug>/", benchmarks.benchmark, name="api-benchmark"),
    path("benchmarks/<slug:slug>/second-step/", second_step.second_step, name="api-second-step"),
    path("benchmarks/<slug:slug>/staff/", staff.staff, name="api-staff"),
    path("benchmarks/<slug:slug>/staff/<int:role>/", staff.staff_member, name="api-staff-member"),
    path("benchmarks/<slug:slug>/cases/", benchmarks.cases, name="api-cases"),
    path("benchmarks/<slug:slug>/cases/<str:public_id>/", benchmarks.case, name="api-case"),
    path("benchmarks/<slug:slug>/candidates/", benchmarks.candidates, name="api-candidates"),
    path("benchmarks/<slug:slug>/candidates/<str:public_id>/", benchmarks.candidate, name="api-candidate"),
    path(
        "benchmarks/<slug:slug>/candidates/<str:public_id>/attributes/",
        benchmarks.candidate_attributes,
        name="api-candidate-attributes",
    ),
    path("benchmarks/<slug:slug>/responses/", benchmarks.responses, name="api-responses"),
    path("benchmarks/<slug:slug>/responses/<str:public_id>/", benchmarks.response, name="api-response"),
    path("benchmarks/<slug:slug>/bank/", banks.bank, name="api-bank"),
    path("benchmarks/<slug:slug>/banks/", banks.banks, name="api-banks"),
    path("benchmarks/<slug:slug>/imports/", benchmarks.imports, name="api-imports"),
    path("benchmarks/<slug:slug>/imports/<str:public_id>/", benchmarks.import_job, name="api-import"),
    path(
        "benchmarks/<slug:slug>/imports/<str:public_id>/restart/", benchmarks.import_restart, name="api-import-restart"
    ),
]
