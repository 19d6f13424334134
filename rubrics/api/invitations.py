"""How a person who was added hears of it, in the answers of endpoints."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from accounts.services.invitations import IssuedInvitation


class InvitedSerializer(serializers.Serializer[Any]):
    """The fields of an answer that says how an added person hears of it."""

    invitation = serializers.ChoiceField(
        choices=["mail", "link", "link_before", "operator", "link_elsewhere", "none"],
        read_only=True,
        help_text="`mail`: sent to the address. `link`: no mail server is set; hand `link` on. `link_before`: one that "
        "was given before still works. `operator`: no mail server is set, and the account has a password or a part "
        "elsewhere already; the server administrator makes the link. `link_elsewhere`: the person has signed in "
        "before, by a link that another admin passed on; read `warning`. `none`: the person has signed in before.",
    )
    link = serializers.CharField(
        read_only=True, help_text="Lets the person choose a password; in this answer alone, empty where emailed."
    )
    warning = serializers.CharField(read_only=True, help_text="Says who else may have the password; mostly empty.")


def invitation_fields(issued: IssuedInvitation | None) -> dict[str, str]:
    """The fields of `InvitedSerializer`."""
    if issued is None:
        return {"invitation": "none", "link": "", "warning": ""}
    return {"invitation": issued.way, "link": issued.link, "warning": issued.warning}
