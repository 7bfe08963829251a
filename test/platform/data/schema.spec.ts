import { readFileSync } from 'node:fs';
import { createDatabase, dropDatabase, query } from '../../../src/testing/databases.js';

describe('the schema that the migrations create', () => {
  it('is that of docs/schema.txt, which "npm run schema:picture" writes', async () => {
    const database = await createDatabase();
    const picture = readFileSync('scripts/schema-picture.sql', 'utf8');
    const lines = await query<{ line: string }>(database, picture);
    await dropDatabase(database);
    const expected = readFileSync('docs/schema.txt', 'utf8').trimEnd().split('\n');
    expect(lines.map(({ line }) => line)).toEqual(expected);
  });
});
