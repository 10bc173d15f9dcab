#!/bin/sh
# Run once, on an empty volume: the service's role, which owns its database and is no superuser.
set -eu
psql --username postgres --set ON_ERROR_STOP=1 --set password="$DATABASE_PASSWORD" <<'SQL'
CREATE ROLE member_apps LOGIN PASSWORD :'password';
CREATE DATABASE member_apps OWNER member_apps;
SQL
