"""Routes of case labels: questions, results, and labelling."""

from django.urls import URLPattern, path

from annotation.labels import views, work_views

urlpatterns: list[URLPattern] = [
    path("work/labels/<str:public_id>/", work_views.label, name="label"),
    path("work/labels/<str:public_id>/answers/", work_views.answer, name="label-answer"),
    path("work/labels/<str:public_id>/submit/", work_views.submit, name="label-submit"),
    path("work/labels/<str:public_id>/time/", work_views.time, name="label-time"),
    path("b/<slug:slug>/labels/", views.questions, name="labels"),
    path("b/<slug:slug>/labels/new/", views.new, name="label-new"),
    path("b/<slug:slug>/labels/new-batch/", views.batch_new, name="label-batch-new"),
    path("b/<slug:slug>/labels/new-batch/preview/", views.batch_preview, name="label-batch-preview"),
    path("b/<slug:slug>/labels/write-tags/", views.write_tags, name="label-write-tags"),
    path("b/<slug:slug>/labels/<str:public_id>/", views.results, name="label-results"),
    path("b/<slug:slug>/labels/<str:public_id>/edit/", views.edit, name="label-edit"),
    path("b/<slug:slug>/labels/<str:public_id>/retire/", views.retire, name="label-retire"),
    path("b/<slug:slug>/labels/<str:public_id>/restore/", views.restore, name="label-restore"),
    path("b/<slug:slug>/labels/<str:public_id>/agreement.csv", views.agreement_csv, name="label-agreement-csv"),
    path("b/<slug:slug>/labels/<str:public_id>/cases.csv", views.cases_csv, name="label-cases-csv"),
    path("b/<slug:slug>/labels/<str:public_id>/answers.csv", views.answers_csv, name="label-answers-csv"),
]
