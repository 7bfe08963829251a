const SAMPLE = 200;
const WINDOWS = 12;

/** Number of records in a time window. */
export const WINDOW = 100;

const IDS = `select id from leads where organization_id = $1 order by md5(id::text) limit ${SAMPLE}`;

/** Terms with the longest numbers, because a shorter one can be a prefix of others. */
const RARE = `select split_part(email, '@', 1) as term from leads where organization_id = $1
  order by length(split_part(email, '.', 3)) desc, md5(id::text) limit ${SAMPLE}`;

const DUE = `select due_date as until from tasks where organization_id = $1 and due_date is not null
  order by due_date, id limit 1 offset ${WINDOW}`;

/** The cursor of a lead in the middle of the list. */
const MIDDLE = `select (extract(epoch from created_at) * 1000)::bigint || '_' || id as cursor
  from leads where organization_id = $1 order by created_at, id limit 1 offset $2::int / 2`;

function windowsOf(table, column) {
  return `select since, until from (
      select ${column} as since, lead(${column}, ${WINDOW}) over sorted as until,
        row_number() over sorted as n from ${table} where organization_id = $1
      window sorted as (order by ${column}, id)) records
    where until is not null and n % ($2::int / ${WINDOWS}) = 0 order by n`;
}

/** @returns ids, search terms and time windows of an organization for requests */
export async function sample(client, organization) {
  const { id, size } = organization;
  const rows = async (statement, ...more) => (await client.query(statement, [id, ...more])).rows;
  const [{ until: due }] = await rows(DUE);
  const [{ cursor: middle }] = await rows(MIDDLE, size);
  return {
    organization,
    ids: (await rows(IDS)).map((row) => row.id),
    rare: (await rows(RARE)).map(({ term }) => term),
    middle,
    updateWindows: (await rows(windowsOf('leads', 'updated_at'), size)).map(isoWindow),
    leadWindows: (await rows(windowsOf('leads', 'created_at'), size)).map(isoWindow),
    appointmentWindows: (await rows(windowsOf('appointments', 'start_time'), size)).map(isoWindow),
    due: due.toISOString(),
  };
}

function isoWindow({ since, until }) {
  return { since: since.toISOString(), until: until.toISOString() };
}
