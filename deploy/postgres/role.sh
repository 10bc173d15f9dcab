#!/bin/sh
# Run once, on an empty volume: the service's role, which owns its database and is no superuser.
set -eu
psql --username postgres --set ON_ERROR_STOP=1 --set password="$DATABASE_PASSWORD" <<'SQL'
CREATE ROLE member_apps LOGIN PASSWORD :'password';
GRANT pg_read_all_stats TO member_apps;
CREATE DATABASE member_apps OWNER member_apps;
SQL
