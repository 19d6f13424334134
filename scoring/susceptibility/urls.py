"""Routes of a judge's susceptibility to instructions in a response."""

from django.urls import URLPattern, path

from scoring.susceptibility import level_views, views

urlpatterns: list[URLPattern] = [
    path(
        "b/<slug:slug>/judges/<str:public_id>/level-shifts/",
        level_views.judge_level_shifts,
        name="judge-level-shifts",
    ),
    path(
        "b/<slug:slug>/judges/<str:public_id>/level-shifts/size",
        level_views.judge_level_shifts_size,
        name="judge-level-shifts-size",
    ),
    path(
        "b/<slug:slug>/judges/<str:public_id>/level-shifts.csv",
        level_views.judge_level_shifts_csv,
        name="judge-level-shifts-csv",
    ),
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
