import type { Call } from '../../../platform/data/call.js';
import { readInput } from '../../../platform/fields/input/read-input.js';
import { LeadImportQuery } from './lead-import.dto.js';
import type { LeadImportsRepository } from './lead-imports.repository.js';
import { CHUNK_BYTES, storeFile } from './store-file.js';

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Records what happens to chunks, of which each takes some turns of the event loop. */
function recordingRepository(happened: string[]): LeadImportsRepository {
  return {
    insertChunk: async (_call: unknown, _id: string, number: number) => {
      happened.push(`begin ${number}`);
      for (let turns = 0; turns < 50; turns++) await turn();
      happened.push(`end ${number}`);
    },
    discardFile: async () => {
      happened.push('discard');
      await turn();
    },
  } as unknown as LeadImportsRepository;
}

it('a refused file is discarded after its last chunk was stored', async () => {
  const happened: string[] = [];
  const file = async function* () {
    yield Promise.resolve(Buffer.from('first_name,email,owner\n'));
    for (let n = 0; n < 4; n++) yield Buffer.from('a,b,c\n'.repeat(CHUNK_BYTES / 4));
  };
  const { value: query } = readInput(LeadImportQuery, {});
  const storing = storeFile(
    recordingRepository(happened),
    { tenant: { id: 't' } } as Call,
    file(),
    'csv',
    query,
  );
  await expect(storing).rejects.toMatchObject({
    details: [expect.objectContaining({ field: 'columns.owner' })],
  });
  for (let turns = 0; turns < 100; turns++) await turn();
  expect(happened.filter((what) => what === 'discard')).toHaveLength(1);
  expect(happened.at(-1)).toBe('discard');
});
