import { readFileSync } from 'node:fs';
import { createDatabase, dropDatabase, query } from '../../../src/testing/databases.js';

describe('the schema that the migrations create', () => {
  it('is that of src/ops/doctor/schema.txt, which "npm run schema:picture" writes', async () => {
    const database = await createDatabase();
    const picture = readFileSync('src/ops/doctor/schema-picture.sql', 'utf8');
    const lines = await query<{ line: string }>(database, picture);
    await dropDatabase(database);
    const expected = readFileSync('src/ops/doctor/schema.txt', 'utf8').trimEnd().split('\n');
    expect(lines.map(({ line }) => line)).toEqual(expected);
  });
});
