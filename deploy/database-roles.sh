#!/bin/sh
# Run once by the image of PostgreSQL, on an empty volume: the database, the role that owns its tables (migrate), and
# the role of web, worker and beat, which can neither alter a table nor drop a trigger (manage.py grant_rights).
set -eu
psql --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres \
  --set owner_password="$DATABASE_OWNER_PASSWORD" --set password="$DATABASE_PASSWORD" <<'SQL'
CREATE ROLE consilium_owner LOGIN PASSWORD :'owner_password';
-- CREATEDB: a backup is restored into a scratch database for a test.
CREATE ROLE consilium LOGIN CREATEDB PASSWORD :'password';
CREATE DATABASE consilium OWNER consilium_owner;
REVOKE ALL ON DATABASE consilium FROM PUBLIC;
GRANT CONNECT, TEMPORARY ON DATABASE consilium TO consilium;
SQL
