import type { DataSource } from 'typeorm';
import { logger } from '../../config/logger.js';

/** The operator of a search. Row-level security keeps it from every index unless it is leak-proof. */
const SEARCH_FUNCTION = 'pg_catalog.textlike(text, text)';

const MARK_LEAK_PROOF = `alter function ${SEARCH_FUNCTION} leakproof`;

interface SearchMark {
  readonly leak_proof: boolean;
  readonly superuser: boolean;
}

/**
 * Lets searches use their index under row-level security. The mark that this takes is set by a
 * migration where a superuser runs it, and a dump does not carry it. A superuser sets it again;
 * for any other user, a warning names the statement.
 */
export async function enableSearchIndex(dataSource: DataSource): Promise<void> {
  const { leak_proof, superuser } = await readMark(dataSource);
  if (leak_proof || (superuser && (await setMark(dataSource)))) return;
  logger.warn(
    `Search reads every lead of an organization, for row-level security keeps it from its index. As a superuser, run once in this database: ${MARK_LEAK_PROOF}`,
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

/** @returns whether the mark is set; a standby cannot set it, and another instance may be first */
async function setMark(dataSource: DataSource): Promise<boolean> {
  await dataSource.query(MARK_LEAK_PROOF).catch(() => undefined);
  return (await readMark(dataSource)).leak_proof;
}
