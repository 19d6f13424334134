"""Headers of Celery's messages that the product adds. Without Django, because the Celery application is made first."""

# When the message was sent, in seconds since 1970.
ENQUEUED_AT = "enqueued_at"
