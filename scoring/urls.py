"""Routes of judges, runs and verdicts of a benchmark."""

from django.urls import URLPattern, path

from scoring import views
from scoring.generation import views as generation
from scoring.screening.urls import urlpatterns as screening_endpoints

app_name = "scoring"

urlpatterns: list[URLPattern] = [
    path("b/<slug:slug>/generation/", generation.generation, name="generation"),
    path("b/<slug:slug>/generation/new/", generation.generation_new, name="generation-new"),
    path("b/<slug:slug>/generation/new/size", generation.generation_size, name="generation-size"),
    path("b/<slug:slug>/generation/new/trial", generation.generation_trial, name="generation-trial"),
    path("b/<slug:slug>/generation/<str:public_id>/", generation.generation_run, name="generation-run"),
    path(
        "b/<slug:slug>/generation/<str:public_id>/progress", generation.generation_progress, name="generation-progress"
    ),
    path("b/<slug:slug>/generation/<str:public_id>/cancel", generation.generation_cancel, name="generation-cancel"),
    path("b/<slug:slug>/generation/<str:public_id>/resume", generation.generation_resume, name="generation-resume"),
    path("b/<slug:slug>/generation/<str:public_id>/items.csv", generation.generation_csv, name="generation-csv"),
    path("b/<slug:slug>/judges/", views.judges, name="judges"),
    path("b/<slug:slug>/judges/new/chat/", views.new_chat_judge, name="judge-new-chat"),
    path("b/<slug:slug>/judges/new/chat/preview", views.prompt_preview, name="prompt-preview"),
    path("b/<slug:slug>/judges/new/trained/", views.new_trained_judge, name="judge-new-trained"),
    path("b/<slug:slug>/judges/new/jury/", views.new_jury, name="judge-new-jury"),
    path("b/<slug:slug>/judges/runs/new/", views.new_run, name="run-new"),
    path("b/<slug:slug>/judges/runs/size", views.run_size, name="run-size"),
    path("b/<slug:slug>/judges/runs/<str:public_id>/", views.run, name="run"),
    path("b/<slug:slug>/judges/runs/<str:public_id>/progress", views.run_progress, name="run-progress"),
    path("b/<slug:slug>/judges/runs/<str:public_id>/cancel", views.run_cancel, name="run-cancel"),
    path("b/<slug:slug>/judges/runs/<str:public_id>/resume", views.run_resume, name="run-resume"),
    path("b/<slug:slug>/judges/runs/<str:public_id>/continue", views.run_continue, name="run-continue"),
    path(
        "b/<slug:slug>/judges/runs/<str:public_id>/comparison.csv",
        views.run_comparison_csv,
        name="run-comparison-csv",
    ),
    path("b/<slug:slug>/judges/runs/<str:public_id>/verdicts/", views.verdicts, name="verdicts"),
    path("b/<slug:slug>/judges/runs/<str:public_id>/verdicts.csv", views.verdicts_csv, name="verdicts-csv"),
    path("b/<slug:slug>/judges/runs/<str:public_id>/judgements.json", views.judgements, name="judgements"),
    path("b/<slug:slug>/judges/supervision/", views.supervision, name="supervision"),
    path("b/<slug:slug>/judges/<str:public_id>/", views.judge, name="judge"),
    path("b/<slug:slug>/judges/<str:public_id>/model-card.csv", views.model_card_csv, name="model-card-csv"),
    path("b/<slug:slug>/judges/<str:public_id>/calibration.svg", views.calibration_svg, name="calibration-svg"),
    path("b/<slug:slug>/judges/<str:public_id>/calibration.png", views.calibration_png, name="calibration-png"),
    path("b/<slug:slug>/judges/<str:public_id>/members.csv", views.jury_csv, name="jury-csv"),
    path("b/<slug:slug>/judges/<str:public_id>/training", views.judge_training, name="judge-training"),
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
    path("b/<slug:slug>/judges/<str:public_id>/train-again", views.judge_train_again, name="judge-train-again"),
    *screening_endpoints,
]
