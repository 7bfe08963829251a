import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { FEATURES } from '../../src/app.module.js';
import { mcpExtension } from '../../src/modules/mcp/mcp.extension.js';

/**
 * What the platform names all the same: the one list of what the tenant role may do, whose tables readiness reads, the writer of
 * the audit log, and texts about the whole product.
 */
const KNOWN = [
  'data/audit/audit-log.ts: into audit_entries',
  'data/readiness.ts: from api_keys',
  ...[
    'mcp_sessions',
    'mcp_secrets',
    'oauth_clients',
    'oauth_artifacts',
    "'api_keys'",
    'oauth_grants',
  ].map((table) => `data/tenant-role/tenant-privileges.ts: ${table}`),
  'extension/command-options.ts: /mcp',
  'http/start-page.ts: /mcp',
];

/** Import rules do not see the names in strings and SQL. Every row has an organization, so that the platform knows that table. */
it('the platform names no table, error or path of a module', () => {
  const modules = filesIn('src/modules');
  const tables = modules
    .flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/@(?:Tenant)?Entity\('(\w+)'/g)])
    .flatMap(([, table]) => (table === 'organizations' ? [] : table!));
  const codes = [...FEATURES, mcpExtension].flatMap(({ errors }) => Object.keys(errors));
  expect(tables).toContain('oauth_grants');
  expect(codes).toContain('lead_not_found');
  const ofTables = String.raw`(?:from|join|into|update) (?:${tables.join('|')})\b|'(?:${tables.join('|')})'`;
  const named = new RegExp(
    String.raw`${ofTables}|'(?:${codes.join('|')})'|\b(?:mcp|oauth)_\w+|/mcp\b`,
    'g',
  );
  const found = filesIn('src/platform').flatMap((file) => {
    const names = withoutComments(readFileSync(file, 'utf8')).match(named) ?? [];
    return names.map((name) => `${file.slice('src/platform/'.length)}: ${name}`);
  });
  expect([...new Set(found)].sort()).toEqual([...KNOWN].sort());
});

function filesIn(folder: string): string[] {
  const listed = execFileSync('git', ['ls-files', folder], { encoding: 'utf8' }).split('\n');
  return listed.filter((file) => file.endsWith('.ts') && !/\/migrations\/|\.spec\.ts$/.test(file));
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, '');
}
