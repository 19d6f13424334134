"""Routes of a judge's susceptibility to instructions in a response."""

from django.urls import URLPattern, path

from scoring.susceptibility import views

urlpatterns: list[URLPattern] = [
    path(
        "b/<slug:slug>/judges/<str:public_id>/susceptibility/", views.judge_susceptibility, name="judge-susceptibility"
    ),
    path(
        "b/<slug:slug>/judges/<str:public_id>/susceptibility/size",
        views.judge_susceptibility_size,
        name="judge-susceptibility-size",
    ),
    path(
        "b/<slug:slug>/judges/<str:public_id>/susceptibility.csv",
        views.judge_susceptibility_csv,
        name="judge-susceptibility-csv",
    ),
]
