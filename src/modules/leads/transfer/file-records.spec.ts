import { csvRecords, ndjsonRecords } from './file-records.js';

async function* chunksOf(...texts: string[]) {
  for (const text of texts) yield Promise.resolve(Buffer.from(text));
}

async function linesOf(records: AsyncIterable<{ readonly line: number }>): Promise<number[]> {
  const lines: number[] = [];
  for await (const { line } of records) lines.push(line);
  return lines;
}

describe('records of a file', () => {
  it('of CSV have the line in which they begin, after a blank cell with line breaks, too', async () => {
    const file = 'a,b\r\n" \r\n\r\n",\r\nc,"d\r\ne"\r\nf,g\r\n';
    expect(await linesOf(csvRecords(chunksOf(file), 'comma'))).toEqual([1, 5, 7]);
  });

  it('of NDJSON have up to 1 MiB before the end of the line', async () => {
    const file = `{"a":"${'x'.repeat(1_048_576 - 8)}"}\n`;
    expect(await linesOf(ndjsonRecords(chunksOf(file)))).toEqual([1]);
  });

  it.each([
    ['before its end', ['{}\n{}\n', 'x'.repeat(1_048_577)]],
    ['with its end', ['{}\n{}\n', `${'x'.repeat(1_048_577)}\n{}`]],
  ])('of NDJSON may have 1 MiB: a longer line is refused by its number, %s', async (_, chunks) => {
    await expect(linesOf(ndjsonRecords(chunksOf(...chunks)))).rejects.toThrow('line 3 is too long');
  });
});
