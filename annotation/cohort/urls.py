"""Routes of the cohort. `apply` is open to whoever has the address of a call."""

from django.urls import URLPattern, path

from annotation.cohort import views

urlpatterns: list[URLPattern] = [
    path("apply/<str:token>/", views.apply, name="apply"),
    path("apply/<str:token>/received/", views.applied, name="applied"),
    path("b/<slug:slug>/cohort/", views.cohort, name="cohort"),
    path("b/<slug:slug>/cohort/call/", views.call, name="cohort-call"),
    path("b/<slug:slug>/cohort/import/", views.import_file, name="cohort-import"),
    path("b/<slug:slug>/cohort/flow.csv", views.flow_csv, name="cohort-flow-csv"),
    path("b/<slug:slug>/cohort/applications.csv", views.applications_csv, name="cohort-applications-csv"),
    path("b/<slug:slug>/cohort/reviews.csv", views.reviews_csv, name="cohort-reviews-csv"),
    path("b/<slug:slug>/cohort/licences/", views.licences_page, name="cohort-licences"),
    path("b/<slug:slug>/cohort/licences.csv", views.licences_csv, name="cohort-licences-csv"),
    path("b/<slug:slug>/cohort/rotation/", views.rotation, name="cohort-rotation"),
    path("b/<slug:slug>/cohort/rotation/<str:public_id>.csv", views.rotation_csv, name="cohort-rotation-csv"),
    path("b/<slug:slug>/cohort/applications/<str:public_id>/", views.application, name="cohort-application"),
    path("b/<slug:slug>/cohort/applications/<str:public_id>/erase/", views.erase, name="cohort-erase"),
]
