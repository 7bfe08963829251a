#!/bin/sh
# Imports a file of leads and waits until the import has ended. Fails if a line is rejected.
# BASE_URL and KEY are those of the service: BASE_URL=https://crm.example.com KEY=lat_... ./import-leads.sh leads.csv
set -eu
file=$1
imports=$BASE_URL/api/v1/leads/imports

call() {
  curl --silent --show-error --fail-with-body --retry 5 --retry-connrefused -H "Authorization: Bearer $KEY" "$@"
}

# The first value of a field of the response.
value() {
  sed -n "s/.*\"$1\":\"\{0,1\}\([^\",}]*\).*/\1/p"
}

# The same file is imported once a day, however often the job runs.
key=$(date -u +%F)-$(sha256sum "$file" | cut -c1-40)
import=$(call -H 'Content-Type: text/csv' -H "Idempotency-Key: $key" --data-binary "@$file" "$imports?match_on=email")
id=$(echo "$import" | value id)

while status=$(echo "$import" | value status) && [ "$status" = pending -o "$status" = running ]; do
  sleep 2
  import=$(call "$imports/$id")
done

echo "$import"
call -o rejected.csv "$imports/$id/rejected"
[ "$status" = completed ] && [ "$(echo "$import" | value rejected)" = 0 ]
