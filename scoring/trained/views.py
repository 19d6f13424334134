"""Downloads of the model card of a trained judge."""

from __future__ import annotations

from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.views.decorators.http import require_safe

from consilium.core.csvfile import stream_csv
from consilium.core.htmx import SignedInRequest, signed_in
from consilium.figures.render import png_file, svg_file
from scoring import access
from scoring.models import TrainedModel
from scoring.trained.presentation import CARD_COLUMNS, CARD_TEXT, card_rows, curve_drawing


def _trained(request: SignedInRequest, slug: str, public_id: str) -> TrainedModel:
    """The fitted model of a judge; 404 where it has none."""
    _benchmark, judge = access.get_judge(request.user, slug, public_id)
    model: TrainedModel | None = getattr(judge, "trained_model", None)
    if model is None or model.status != "done":
        raise Http404
    return model


@require_safe
@signed_in
def model_card_csv(request: SignedInRequest, slug: str, public_id: str) -> StreamingHttpResponse:
    """All tables of a model card, a figure a row."""
    model = _trained(request, slug, public_id)
    pieces = stream_csv(CARD_COLUMNS, card_rows(model), text_columns=CARD_TEXT)
    response = StreamingHttpResponse(pieces, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-judge-{public_id}-model-card.csv"'
    return response


@require_safe
@signed_in
def calibration_svg(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """The calibration curve as SVG, with real colours."""
    response = HttpResponse(
        svg_file(curve_drawing(_trained(request, slug, public_id).card)), content_type="image/svg+xml"
    )
    response["Content-Disposition"] = 'attachment; filename="calibration-curve.svg"'
    return response


@require_safe
@signed_in
def calibration_png(request: SignedInRequest, slug: str, public_id: str) -> HttpResponse:
    """The calibration curve as PNG at 300 dots an inch."""
    response = HttpResponse(png_file(curve_drawing(_trained(request, slug, public_id).card)), content_type="image/png")
    response["Content-Disposition"] = 'attachment; filename="calibration-curve.png"'
    return response
