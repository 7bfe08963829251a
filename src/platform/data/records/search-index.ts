import type { DataSource } from 'typeorm';
import { logger } from '../../config/logger.js';

/** The function of LIKE. Under row-level security only leakproof functions can use an index. */
const SEARCH_FUNCTION = 'pg_catalog.textlike(text, text)';

export const MARK_LEAK_PROOF = `alter function ${SEARCH_FUNCTION} leakproof`;

/**
 * Lets searches use their index under row-level security by marking LIKE as leakproof. Only a
 * superuser can set the mark, and dumps do not contain it. For other users, a warning names the
 * statement to run.
 */
export async function enableSearchIndex(dataSource: DataSource): Promise<void> {
  const { leak_proof, superuser } = await readMark(dataSource);
  if (leak_proof) return;
  if (superuser) {
    // Fails on a standby, or if another instance sets the mark.
    await dataSource.query(MARK_LEAK_PROOF).catch(() => undefined);
    if ((await readMark(dataSource)).leak_proof) return;
  }
  logger.warn(
    `Searches read every lead of an organization, because row-level security prevents the use of their index. As a superuser, run once in this database: ${MARK_LEAK_PROOF}`,
  );
}

/** Reads whether LIKE is marked. */
export const FIND_MARK = `
  select proleakproof as leak_proof,
    (select rolsuper from pg_roles where rolname = current_user) as superuser
  from pg_proc where oid = '${SEARCH_FUNCTION}'::regprocedure`;

/** The row of `FIND_MARK`. */
export interface LeakProofMark {
  readonly leak_proof: boolean;
  readonly superuser: boolean;
}

async function readMark(dataSource: DataSource) {
  const [mark] = await dataSource.query<[LeakProofMark]>(FIND_MARK);
  return mark;
}
