import type { DataSource } from 'typeorm';
import { logger } from '../../config/logger.js';

/** The function of LIKE. Under row-level security only leakproof functions can use an index. */
const SEARCH_FUNCTION = 'pg_catalog.textlike(text, text)';

const MARK_LEAK_PROOF = `alter function ${SEARCH_FUNCTION} leakproof`;

interface SearchMark {
  readonly leak_proof: boolean;
  readonly superuser: boolean;
}

/**
 * Lets searches use their index under row-level security by marking LIKE as leakproof. Only a
 * superuser can set the mark, and dumps do not contain it. For other users, a warning names the
 * statement to run.
 */
export async function enableSearchIndex(dataSource: DataSource): Promise<void> {
  const { leak_proof, superuser } = await readMark(dataSource);
  if (leak_proof || (superuser && (await setMark(dataSource)))) return;
  logger.warn(
    `Searches read every lead of an organization, because row-level security prevents the use of their index. As a superuser, run once in this database: ${MARK_LEAK_PROOF}`,
  );
}

async function readMark(dataSource: DataSource): Promise<SearchMark> {
  const [mark] = await dataSource.query<[SearchMark]>(
    `select proleakproof as leak_proof,
       (select rolsuper from pg_roles where rolname = current_user) as superuser
     from pg_proc where oid = '${SEARCH_FUNCTION}'::regprocedure`,
  );
  return mark;
}

/** @returns whether the mark is set now; this fails on a standby, or if another instance sets it */
async function setMark(dataSource: DataSource): Promise<boolean> {
  await dataSource.query(MARK_LEAK_PROOF).catch(() => undefined);
  return (await readMark(dataSource)).leak_proof;
}
