"""How passwords are hashed."""

from __future__ import annotations

from django.contrib.auth.hashers import Argon2PasswordHasher


class PasswordHasher(Argon2PasswordHasher):
    """Argon2id with 46 MiB of memory, 2 passes and 1 thread.

    That is twice the work of the minimum that OWASP's Password Storage Cheat Sheet recommends for this memory. Django's
    own parameters (100 MiB, 2 passes, 8 threads) take more than twice the time, 250 ms of CPU on two cores, and 100 MiB
    for each person who signs in at the same moment. Hashes with other parameters are replaced at the next sign-in.
    """

    time_cost = 2
    memory_cost = 47104  # KiB
    parallelism = 1
