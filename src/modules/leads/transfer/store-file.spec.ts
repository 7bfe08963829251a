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
    { bytes: file() },
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

it('a file has its limit of bytes also after it was decoded', async () => {
  const happened: string[] = [];
  const file = async function* () {
    yield Promise.resolve(Buffer.from('first_name\n'));
    // Three bytes each in UTF-8.
    const euros = `${'\x80'.repeat(1_023)}\n`.repeat(1_024);
    for (let mebibytes = 0; mebibytes < 18; mebibytes++) yield Buffer.from(euros, 'latin1');
  };
  const { value: query } = readInput(LeadImportQuery, {
    encoding: 'windows-1252',
    mode: 'create_only',
  });
  const call = { tenant: { id: 't' } } as Call;
  const storing = storeFile(recordingRepository(happened), call, { bytes: file() }, 'csv', query);
  await expect(storing).rejects.toMatchObject({ code: 'payload_too_large' });
  expect(happened.at(-1)).toBe('discard');
});

it('small parts of a file are joined before they are stored', async () => {
  const happened: string[] = [];
  const file = async function* () {
    yield Promise.resolve(Buffer.from('first_name\n'));
    for (let n = 0; n < 50_000; n++) yield Buffer.from(n % 2 === 0 ? 'a' : '\n');
  };
  const { value: query } = readInput(LeadImportQuery, { mode: 'create_only' });
  const call = { tenant: { id: 't' } } as Call;
  const stored = await storeFile(
    recordingRepository(happened),
    call,
    { bytes: file() },
    'csv',
    query,
  );
  expect(stored).toMatchObject({ bytes: 50_011, lines: 25_000 });
  expect(happened).toEqual(['begin 0', 'end 0']);
});
