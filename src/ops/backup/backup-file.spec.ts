import { Readable } from 'node:stream';
import { crc32, gzipSync } from 'node:zlib';
import { BackupFileError, type BackupHeader, BackupReader, encodeBackup } from './backup-file.js';

const HEADER: BackupHeader = {
  ...{ latitude: '1.0.0', created_at: '2026-01-01T00:00:00Z', migrations: [], sequences: [] },
  tables: [{ name: 'leads', columns: [{ name: 'id', type: 'int' }], rows: 1 }],
};

async function backup(): Promise<Buffer> {
  const parts = encodeBackup(HEADER, [Readable.from([Buffer.from('1\n')])]);
  return gzipSync(Buffer.concat(await Readable.from(parts).toArray()));
}

/** A backup whose first frame has this content. */
function withHeader(content: string): Buffer {
  const bytes = Buffer.from(content);
  const prefix = Buffer.alloc(8);
  prefix.writeUInt32BE(bytes.length, 0);
  prefix.writeUInt32BE(crc32(bytes), 4);
  return gzipSync(Buffer.concat([Buffer.from('latitude backup 1\n'), prefix, bytes]));
}

async function read(...chunks: Buffer[]): Promise<BackupHeader> {
  const reader = await BackupReader.open(Readable.from(chunks));
  await reader.verify();
  return reader.header;
}

const error = (message: string) => new BackupFileError(message);

describe('BackupReader', () => {
  it('reads a backup in chunks of any size', async () => {
    const bytes = await backup();
    expect(await read(bytes)).toEqual(HEADER);
    expect(await read(...[...bytes].map((byte) => Buffer.from([byte])))).toEqual(HEADER);
  });

  it.each(['not JSON', 'null', '1', '{}', '{"tables":1,"migrations":[],"sequences":[]}'])(
    'rejects the header %s',
    async (header) => {
      await expect(read(withHeader(header))).rejects.toThrow(
        error('is damaged: its header cannot be read'),
      );
    },
  );

  it('says that other bytes follow a backup', async () => {
    const bytes = await backup();
    const message = 'is damaged: other bytes follow its end';
    const trailing = Buffer.from('more');
    await expect(read(bytes, trailing)).rejects.toThrow(error(message));
    await expect(read(Buffer.concat([bytes, trailing]))).rejects.toThrow(error(message));
  });

  it.each([
    ['a text', Buffer.from('PGDMP and more text')],
    ['a compressed text', gzipSync('some text, and more of it')],
    ['a short compressed text', gzipSync('text')],
  ])('says that %s is no backup', async (_, bytes) => {
    const message = 'is no backup that this version of Latitude can read';
    await expect(read(bytes)).rejects.toThrow(error(message));
  });

  it.each([0, 1, 2, 20, 40])('says that a backup of %d bytes is cut off', async (length) => {
    const bytes = (await backup()).subarray(0, length);
    await expect(read(bytes)).rejects.toThrow(error('is cut off'));
  });
});
