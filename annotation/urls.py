"""Physicians' own pages under ``work/``; pages of groups and batches under the benchmark."""

from django.urls import URLPattern, path

from annotation.views import adjudications, batches, checks, grading, groups, work

app_name = "annotation"
urlpatterns: list[URLPattern] = [
    path("work/", work.work, name="work"),
    path("work/in/<slug:slug>/", work.work_in, name="work-in"),
    path("work/checks/", checks.checks, name="checks"),
    path("work/checks/in/<slug:slug>/", checks.checks_in, name="checks-in"),
    path("work/checks/next/", checks.claim_next, name="check-next"),
    path("work/checks/<str:public_id>/", checks.check, name="check"),
    path("work/checks/<str:public_id>/claim/", checks.claim, name="check-claim"),
    path("work/checks/<str:public_id>/criteria/<int:criterion_id>/", checks.amend, name="amend"),
    path("work/checks/<str:public_id>/accept/", checks.accept, name="check-accept"),
    path("work/checks/<str:public_id>/return/", checks.send_back, name="check-return"),
    path("work/checks/<str:public_id>/release/", checks.release, name="check-release"),
    path("work/adjudications/", adjudications.adjudications, name="adjudications"),
    path("work/adjudications/in/<slug:slug>/", adjudications.adjudications_in, name="adjudications-in"),
    path("work/adjudications/next/", adjudications.claim_next, name="adjudicate-next"),
    path("work/adjudications/<str:public_id>/", adjudications.adjudication, name="adjudication"),
    path("work/adjudications/<str:public_id>/claim/", adjudications.claim, name="adjudication-claim"),
    path("work/adjudications/<str:public_id>/criteria/<int:criterion_id>/", adjudications.rule, name="rule"),
    path("work/adjudications/<str:public_id>/finish/", adjudications.finish, name="adjudication-finish"),
    path("work/<str:public_id>/", grading.grade, name="grade"),
    path("work/<str:public_id>/criteria/<int:criterion_id>/", grading.criterion, name="criterion"),
    path("work/<str:public_id>/submit/", grading.submit, name="submit"),
    path("b/<slug:slug>/groups/", groups.groups, name="groups"),
    path("b/<slug:slug>/groups/new/", groups.create, name="group-new"),
    path("b/<slug:slug>/groups/<str:public_id>/", groups.group, name="group"),
    path("b/<slug:slug>/groups/<str:public_id>/members/", groups.add_member, name="member-add"),
    path("b/<slug:slug>/groups/<str:public_id>/members/<int:membership>/", groups.set_active, name="member"),
    path("b/<slug:slug>/batches/", batches.batches, name="batches"),
    path("b/<slug:slug>/batches/new/", batches.new, name="batch-new"),
    path("b/<slug:slug>/batches/preview/", batches.preview, name="batch-preview"),
    path("b/<slug:slug>/batches/<str:public_id>/", batches.batch, name="batch"),
    path("b/<slug:slug>/batches/<str:public_id>/pause/", batches.pause, name="batch-pause"),
    path("b/<slug:slug>/batches/<str:public_id>/open/", batches.reopen, name="batch-open"),
    path("b/<slug:slug>/batches/<str:public_id>/close/", batches.close, name="batch-close"),
    path("b/<slug:slug>/batches/<str:public_id>/extend/", batches.extend, name="batch-extend"),
    path("b/<slug:slug>/batches/<str:public_id>/progress.csv", batches.progress_csv, name="batch-progress"),
    path("b/<slug:slug>/conflicts/", batches.conflicts, name="conflicts"),
]
