"""Routes of physicians' own pages under ``work/``, and of groups and batches under the benchmark."""

from django.urls import URLPattern, path

from annotation.contributions import urls as contributions_urls
from annotation.dashboard import views as dashboard
from annotation.labels import urls as label_urls
from annotation.qualification import urls as quality_urls
from annotation.regrading import views as regrading
from annotation.views import adjudications, batches, checks, comments, grading, groups, handover, saving, taking, work
from annotation.writing import urls as writing_urls

app_name = "annotation"
urlpatterns: list[URLPattern] = [
    *quality_urls.urlpatterns,
    *label_urls.urlpatterns,
    *contributions_urls.urlpatterns,
    *writing_urls.urlpatterns,
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
    path("work/take/<str:public_id>/", taking.take, name="take"),
    path("work/<str:public_id>/", grading.grade, name="grade"),
    path("work/<str:public_id>/decisions/", saving.decisions, name="decisions"),
    path("work/<str:public_id>/next/", grading.upcoming, name="next"),
    path("work/<str:public_id>/skip/", grading.skip, name="skip"),
    path("work/<str:public_id>/submit/", grading.submit, name="submit"),
    path("work/<str:public_id>/time/", saving.time, name="time"),
    path("work/<str:public_id>/comments/", comments.comments, name="comments"),
    path("b/<slug:slug>/comments/", comments.threads, name="threads"),
    path("b/<slug:slug>/comments.csv", comments.comments_csv, name="comments-csv"),
    path("b/<slug:slug>/comments/<str:public_id>/", comments.comments_of, name="comments-of"),
    path("b/<slug:slug>/regrading/", regrading.regrading, name="regrading"),
    path("b/<slug:slug>/regrading.csv", regrading.regrading_csv, name="regrading-csv"),
    path("b/<slug:slug>/groups/", groups.groups, name="groups"),
    path("b/<slug:slug>/groups/new/", groups.create, name="group-new"),
    path("b/<slug:slug>/groups/<str:public_id>/", groups.group, name="group"),
    path("b/<slug:slug>/groups/<str:public_id>/members/", groups.add_member, name="member-add"),
    path("b/<slug:slug>/groups/<str:public_id>/members/<int:membership>/", groups.set_active, name="member"),
    path(
        "b/<slug:slug>/groups/<str:public_id>/members/<int:membership>/capacity/",
        groups.set_capacity,
        name="member-capacity",
    ),
    path("b/<slug:slug>/progress/", dashboard.progress, name="progress"),
    path("b/<slug:slug>/progress/<slug:table>.csv", dashboard.progress_table, name="progress-table"),
    path("b/<slug:slug>/batches.csv", batches.batches_csv, name="batches-csv"),
    path("b/<slug:slug>/conflicts.csv", batches.conflicts_csv, name="conflicts-csv"),
    path("b/<slug:slug>/batches/<str:public_id>/pieces.csv", batches.pieces_csv, name="batch-pieces"),
    path("b/<slug:slug>/batches/<str:public_id>/handover/", handover.hand_over, name="batch-handover"),
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
