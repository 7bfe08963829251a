/** Comments, strings and quoted names. Semicolons and keywords inside them are ignored. */
const QUOTED =
  /--[^\n]*|\/\*[\s\S]*?\*\/|\be'(?:[^'\\]|\\[\s\S]|'')*'|'[^']*'|"[^"]*"|\$(\w*)\$[\s\S]*?\$\1\$/gi;

const MAY_END = /\b(?:commit|rollback|abort|end|prepare)\b/i;

const ENDS =
  /^(?:commit|end|abort|prepare\s+transaction|rollback(?!(?:\s+(?:work|transaction))?\s+to\b))\b/i;

const CHAINS = /\band\s+chain\b/i;

/**
 * Whether SQL ends a transaction and starts another one, by statements after a `commit` or by `commit and
 * chain`. The session context of the second transaction could not be set.
 */
export function continuesAfterTransactionEnd(text: string): boolean {
  if (!MAY_END.test(text)) return false;
  const statements = text
    .replace(QUOTED, (quoted) => (/^["'$e]/i.test(quoted) ? "''" : ' '))
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
  return statements.some((statement, index) => {
    if (!ENDS.test(statement)) return false;
    return index < statements.length - 1 || CHAINS.test(statement);
  });
}
