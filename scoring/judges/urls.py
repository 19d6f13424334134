"""Routes of judges and juries."""

from django.urls import URLPattern, path

from scoring.judges import jury_views, views

urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/judges/", views.judges, name="judges"),
    path("b/<slug:slug>/judges/new/chat/", views.new_chat_judge, name="judge-new-chat"),
    path("b/<slug:slug>/judges/new/chat/preview", views.prompt_preview, name="prompt-preview"),
    path("b/<slug:slug>/judges/new/trained/", views.new_trained_judge, name="judge-new-trained"),
    path("b/<slug:slug>/judges/new/jury/", jury_views.new_jury, name="judge-new-jury"),
    path("b/<slug:slug>/judges/<str:public_id>/", views.judge, name="judge"),
    path("b/<slug:slug>/judges/<str:public_id>/members.csv", jury_views.jury_csv, name="jury-csv"),
    path("b/<slug:slug>/judges/<str:public_id>/training", views.judge_training, name="judge-training"),
    path("b/<slug:slug>/judges/<str:public_id>/train-again", views.judge_train_again, name="judge-train-again"),
]
