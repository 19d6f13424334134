"""Who signs in. What a person may do in a benchmark stands in `rubrics.BenchmarkRole` and `annotation.Membership`."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models.functions import Lower
from django.utils.translation import gettext_lazy as _


class User(AbstractUser):
    """A person. ``username`` is internal and never shown; people sign in with their e-mail address.

    A rater whose decisions were made elsewhere is a user without an address or a usable password.
    ``is_staff`` lets a user create benchmarks; it gives no access to anybody else's.
    """

    name = models.CharField(_("name"), max_length=200, blank=True)
    time_zone = models.CharField(_("time zone"), max_length=64, default="UTC")
    language = models.CharField(_("language"), max_length=10, default="en")

    class Meta:
        constraints = [
            # Imported raters have no address; everybody else's is theirs alone, however it is capitalised.
            models.UniqueConstraint(Lower("email"), name="accounts_user_email_once", condition=~models.Q(email="")),
        ]

    def __str__(self) -> str:
        return self.name or self.email or "Imported rater"


class PhysicianProfile(models.Model):
    """Credentials of a physician, kept apart from decisions; they leave the house only as counts."""

    user = models.OneToOneField(User, on_delete=models.CASCADE, related_name="physician_profile")
    specialty = models.CharField(_("specialty"), max_length=100, blank=True)
    licence_country = models.CharField(_("country of licence"), max_length=2, blank=True)
    years_in_practice = models.PositiveSmallIntegerField(_("years in practice"), null=True, blank=True)

    def __str__(self) -> str:
        return str(self.user)
