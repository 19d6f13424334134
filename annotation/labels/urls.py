"""Routes of case labels; part of ``annotation.urls``."""

from django.urls import URLPattern, path

from annotation.labels import views as labels
from annotation.labels import work_views as labelling

urlpatterns: list[URLPattern] = [
    path("work/labels/<str:public_id>/", labelling.label, name="label"),
    path("work/labels/<str:public_id>/answers/", labelling.answer, name="label-answer"),
    path("work/labels/<str:public_id>/submit/", labelling.submit, name="label-submit"),
    path("work/labels/<str:public_id>/time/", labelling.time, name="label-time"),
    path("b/<slug:slug>/labels/", labels.questions, name="labels"),
    path("b/<slug:slug>/labels/new/", labels.new, name="label-new"),
    path("b/<slug:slug>/labels/new-batch/", labels.batch_new, name="label-batch-new"),
    path("b/<slug:slug>/labels/new-batch/preview/", labels.batch_preview, name="label-batch-preview"),
    path("b/<slug:slug>/labels/write-tags/", labels.write_tags, name="label-write-tags"),
    path("b/<slug:slug>/labels/<str:public_id>/", labels.results, name="label-results"),
    path("b/<slug:slug>/labels/<str:public_id>/edit/", labels.edit, name="label-edit"),
    path("b/<slug:slug>/labels/<str:public_id>/retire/", labels.retire, name="label-retire"),
    path("b/<slug:slug>/labels/<str:public_id>/restore/", labels.restore, name="label-restore"),
    path("b/<slug:slug>/labels/<str:public_id>/agreement.csv", labels.agreement_csv, name="label-agreement-csv"),
    path("b/<slug:slug>/labels/<str:public_id>/cases.csv", labels.cases_csv, name="label-cases-csv"),
    path("b/<slug:slug>/labels/<str:public_id>/answers.csv", labels.answers_csv, name="label-answers-csv"),
]
