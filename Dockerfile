# One image for the web server, the Celery worker and beat; docker-compose.yml says which is which. It runs with a root
# file system that is read-only, and without any capability.
FROM python:3.12.11-slim-bookworm AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1
RUN python -m venv /opt/consilium && /opt/consilium/bin/pip install --quiet uv
COPY requirements/base.txt /tmp/base.txt
RUN /opt/consilium/bin/uv pip sync --python /opt/consilium/bin/python --require-hashes /tmp/base.txt

FROM python:3.12.11-slim-bookworm
# Chinese text in PNG and PDF figures needs a font.
RUN apt-get update \
    && apt-get install -y --no-install-recommends fonts-wqy-microhei \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --create-home --home-dir /srv/consilium --uid 10001 consilium \
    && install --directory --mode 700 --owner consilium /srv/consilium /srv/backups
COPY --from=build /opt/consilium /opt/consilium
COPY . /srv/app
WORKDIR /srv/app
ENV PATH=/opt/consilium/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    CONSILIUM_HOME=/srv/consilium \
    STATIC_ROOT=/srv/static
# The key signs nothing here: collecting files only needs settings that load.
RUN SECRET_KEY=only-to-collect-static-files-which-signs-nothing-at-all \
    python manage.py collectstatic --noinput --verbosity 0
USER consilium
EXPOSE 8000
CMD ["python", "-m", "standalone.web_server", "--bind", "0.0.0.0:8000"]
