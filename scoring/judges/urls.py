"""Routes of judges and juries."""

from django.urls import URLPattern, path

from scoring.judges import jury_views, views
from scoring.judges.kinds.kind import KINDS

urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/judges/", views.judges, name="judges"),
    path("b/<slug:slug>/judges/new/chat/preview", views.prompt_preview, name="prompt-preview"),
    path("b/<slug:slug>/judges/new/acuity/preview", views.level_preview, name="level-preview"),
    # One form for each kind of judge that is made here: judge-new-chat, judge-new-trained, judge-new-jury.
    *(
        path(
            f"b/<slug:slug>/judges/new/{kind.key}/",
            views.new_judge,
            {"kind": kind.key},
            name=f"judge-new-{kind.key}",
        )
        for kind in KINDS.values()
        if kind.is_made_here
    ),
    path("b/<slug:slug>/judges/<str:public_id>/", views.judge, name="judge"),
    path("b/<slug:slug>/judges/<str:public_id>/members.csv", jury_views.jury_csv, name="jury-csv"),
    path("b/<slug:slug>/judges/<str:public_id>/try", views.judge_try, name="judge-try"),
    path("b/<slug:slug>/judges/<str:public_id>/training", views.judge_training, name="judge-training"),
    path("b/<slug:slug>/judges/<str:public_id>/train-again", views.judge_train_again, name="judge-train-again"),
    path("b/<slug:slug>/judges/<str:public_id>/delete", views.judge_delete, name="judge-delete"),
]
