import { FEATURES } from '../../../app.module.js';
import { searchTextState, type StoredSearchText } from '../../../modules/leads/lead-values.js';
import {
  type CountDrift,
  type CountedTable,
  findCountDrift,
} from '../../../platform/data/records/record-counts.js';
import { tableOf } from '../../../platform/data/records/tenant-entity.js';
import type { Extension } from '../../../platform/extension/extension.js';
import { type Checks, failed, type Finding, ok, together, warning } from '../check.js';
import type { DatabaseContext } from '../context.js';

/** Leads that one statement reads. */
const PAGE = 5_000;

/** What is computed from records, compared with the records. These checks read whole tables. */
export const DEEP_CHECKS: Checks<DatabaseContext> = {
  counters: async ({ sql, extensions }) => {
    const tables = countedTables(extensions);
    const problems: Finding[] = [];
    for (const { id } of await sql.read<Organization>(FIND_ORGANIZATIONS)) {
      for (const table of tables) {
        const drifts = await sql.read<CountDrift>(findCountDrift(table), [id], id);
        problems.push(...drifts.map((drift) => counterProblem(id, drift)));
      }
    }
    return together(problems, ok('The totals of lists are those of the tables.'));
  },

  search_texts: async ({ sql }) => {
    const problems: Finding[] = [];
    for (const { id, phone_region } of await sql.read<Organization>(FIND_ORGANIZATIONS)) {
      const found = { current: 0, waiting: 0, wrong: 0 };
      let after = '00000000-0000-0000-0000-000000000000';
      for (;;) {
        const leads = await sql.read<StoredSearchText & { id: string }>(
          READ_LEADS,
          [id, after],
          id,
        );
        for (const lead of leads) found[searchTextState(lead, phone_region)]++;
        const last = leads.at(-1);
        if (!last || leads.length < PAGE) break;
        after = last.id;
      }
      problems.push(...searchTextProblems(id, found));
    }
    return together(problems, ok('The search texts are those of the leads.'));
  },
};

interface Organization {
  readonly id: string;
  readonly phone_region: string;
}

const FIND_ORGANIZATIONS = 'select id, phone_region from organizations order by id';

const READ_LEADS = `
  select id, first_name, last_name, company, email, phone, search_text from leads
  where organization_id = $1 and id > $2 and deleted_at is null order by id limit ${PAGE}`;

/** The tables of Latitude and of a team whose records triggers count. */
function countedTables(extensions: readonly Extension[]): CountedTable[] {
  const tables = [...FEATURES, ...extensions].flatMap(({ entities }) => entities.map(tableOf));
  return tables.flatMap(({ counted, ...table }) => (counted ? { ...table, counted } : []));
}

function counterProblem(
  organizationId: string,
  { resource, filter, value, counted, actual }: CountDrift,
): Finding {
  const which = filter === '' ? resource : `${resource} with ${filter} ${value}`;
  return failed(
    `The total of ${which} in organization ${organizationId} is ${counted} in place of ${actual}.`,
    'latitude counters repair',
  );
}

function searchTextProblems(
  organizationId: string,
  { wrong, waiting }: Record<'wrong' | 'waiting', number>,
): Finding[] {
  const where = `in organization ${organizationId}`;
  return [
    ...(wrong > 0
      ? [
          failed(
            `Leads whose search text is that of other values, ${where}: ${wrong}.`,
            'latitude migrate',
          ),
        ]
      : []),
    ...(waiting > 0
      ? [
          warning(
            `Leads that wait for their search text, ${where}: ${waiting}.`,
            'A running instance writes it within minutes, or: latitude migrate',
          ),
        ]
      : []),
  ];
}
