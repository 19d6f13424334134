"""API routes of groups, batches and physicians' work."""

from django.urls import URLPattern, URLResolver, include, path

from annotation.api import management, undo, work

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("annotation.acuity.api_urls")),
    path("", include("annotation.cohort.api_urls")),
    path("", include("annotation.codes.api_urls")),
    path("", include("annotation.labels.api_urls")),
    path("", include("annotation.regrading.api_urls")),
    path("", include("annotation.writing.api_urls")),
    path("benchmarks/<slug:slug>/groups/", management.groups, name="api-groups"),
    path("benchmarks/<slug:slug>/groups/<str:public_id>/", management.group, name="api-group"),
    path("benchmarks/<slug:slug>/groups/<str:public_id>/members/", management.members, name="api-members"),
    path(
        "benchmarks/<slug:slug>/groups/<str:public_id>/members/<int:membership>/", management.member, name="api-member"
    ),
    path("benchmarks/<slug:slug>/batches/", management.batches, name="api-batches"),
    path("benchmarks/<slug:slug>/batches/preview/", management.batch_preview, name="api-batch-preview"),
    path("benchmarks/<slug:slug>/batches/<str:public_id>/", management.batch, name="api-batch"),
    path("benchmarks/<slug:slug>/batches/<str:public_id>/pause/", management.batch_pause, name="api-batch-pause"),
    path("benchmarks/<slug:slug>/batches/<str:public_id>/open/", management.batch_open, name="api-batch-open"),
    path("benchmarks/<slug:slug>/batches/<str:public_id>/close/", management.batch_close, name="api-batch-close"),
    path("benchmarks/<slug:slug>/conflicts/", management.conflicts, name="api-conflicts"),
    path("work/assignments/", work.assignments, name="api-assignments"),
    path("work/assignments/<str:public_id>/", work.assignment, name="api-assignment"),
    path("work/assignments/<str:public_id>/decisions/", work.decisions, name="api-decisions"),
    path("work/assignments/<str:public_id>/submit/", work.submit, name="api-submit"),
    path("work/assignments/<str:public_id>/undo/", undo.submit, name="api-undo"),
    path("work/assignments/<str:public_id>/skip/", work.skip, name="api-skip"),
    path("work/batches/<str:public_id>/next/", work.take, name="api-take"),
    path("work/checks/", work.checks, name="api-checks"),
    path("work/checks/next/", work.check_next, name="api-check-next"),
    path("work/checks/<str:public_id>/", work.check, name="api-check"),
    path("work/checks/<str:public_id>/claim/", work.check_claim, name="api-check-claim"),
    path("work/checks/<str:public_id>/amendments/", work.amendments, name="api-amendments"),
    path("work/checks/<str:public_id>/accept/", work.check_accept, name="api-check-accept"),
    path("work/checks/<str:public_id>/undo/", undo.accept, name="api-check-undo"),
    path("work/checks/<str:public_id>/return/", work.check_return, name="api-check-return"),
    path("work/checks/<str:public_id>/release/", work.check_release, name="api-check-release"),
    path("work/adjudications/", work.adjudications, name="api-adjudications"),
    path("work/adjudications/next/", work.adjudication_next, name="api-adjudication-next"),
    path("work/adjudications/<str:public_id>/", work.adjudication, name="api-adjudication"),
    path("work/adjudications/<str:public_id>/claim/", work.adjudication_claim, name="api-adjudication-claim"),
    path("work/adjudications/<str:public_id>/rulings/", work.rulings, name="api-rulings"),
    path("work/adjudications/<str:public_id>/finish/", work.adjudication_finish, name="api-adjudication-finish"),
    path("work/adjudications/<str:public_id>/release/", work.adjudication_release, name="api-adjudication-release"),
    path("work/adjudications/<str:public_id>/undo/", undo.finish, name="api-adjudication-undo"),
]
