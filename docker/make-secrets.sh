#!/bin/sh
# Makes the passwords of docker/full.yml, as files in docker/secrets. A file that is there already stays as it is.
#
# The folder is closed to everybody but you. The files in it can be read by all, because a container's process, which is
# another user, reads them at the place where Docker shows them to it.
set -eu
cd "$(dirname "$0")"
mkdir -p secrets
chmod 700 secrets

made() { # NAME: writes the standard input into a new file
    if [ -e "secrets/$1" ]; then cat >/dev/null; else cat >"secrets/$1" && chmod 444 "secrets/$1" && echo "made docker/secrets/$1"; fi
}
random() { head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n'; }
kept() { cat "secrets/$1"; }

random | made postgres_password
random | made database_password
random | made valkey_password
random | made neo4j_password
random | made secret_key
random | made admin_password
random | made grafana_password
random | made llm_api_key
random | made metrics_token
printf 'postgresql://app:%s@postgres:5432/grasp' "$(kept postgres_password)" | made database_superuser_url
# In earlier versions the site was the superuser itself.
case "$(cat secrets/database_url 2>/dev/null)" in postgresql://app:*@postgres:5432/grasp) rm -f secrets/database_url ;; esac
printf 'postgresql://grasp:%s@postgres:5432/grasp' "$(kept database_password)" | made database_url
printf 'redis://:%s@valkey:6379/0' "$(kept valkey_password)" | made redis_url
printf 'requirepass %s\n' "$(kept valkey_password)" | made valkey.conf
printf 'neo4j/%s' "$(kept neo4j_password)" | made neo4j_auth
# Empty: no Neo4j. With the profile neo4j: see docs/containers.md.
printf '' | made neo4j_url
