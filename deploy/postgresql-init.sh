#!/bin/sh
# deploy/postgresql-init.sh [FILE]
# Creates the role and the database of Murmur on a PostgreSQL server, with the rights needed to erase
# traces of sealed reports. FILE contains the password of the new role. If FILE is -, the password is read from
# standard input, which root can open for the server's superuser:
#     sudo -u postgres deploy/postgresql-init.sh - </etc/murmur/secrets/postgres_password
# PGPORT names the port, if several servers run on the machine.
set -eu
# The password is passed in the environment, because other users of the machine can see the
# arguments of a command.
MURMUR_PASSWORD=$(cat "${1:-/run/secrets/postgres_password}")
export MURMUR_PASSWORD
psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --dbname postgres <<'SQL'
\getenv password MURMUR_PASSWORD
-- The server's log must not quote the password.
SET log_statement = none;
SET log_min_duration_statement = -1;
SET log_min_error_statement = panic;
CREATE ROLE murmur LOGIN PASSWORD :'password';
-- On a machine without a locale, such as a small server, Debian's PostgreSQL would store text in no known encoding.
CREATE DATABASE murmur OWNER murmur TEMPLATE template0 ENCODING UTF8 LOCALE 'C';
-- Lets Murmur request checkpoints, so that used files of the write-ahead log can be removed.
GRANT pg_checkpoint TO murmur;
-- Lets Murmur see whether those files are gone, and whether a backup is still reading deleted rows.
GRANT pg_monitor TO murmur;
\connect murmur
GRANT EXECUTE ON FUNCTION pg_switch_wal() TO murmur;
SQL
