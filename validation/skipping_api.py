"""What the API takes when a physician skips a question, whatever the question is about."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from consilium.core.api import StrictSerializer
from consilium.core.limits import MAX_REASON_LENGTH


class SkippedQuestionSerializer(StrictSerializer, serializers.Serializer[Any]):
    """Why the caller cannot judge a question, if they say so."""

    reason = serializers.CharField(max_length=MAX_REASON_LENGTH, required=False, allow_blank=True, default="")
