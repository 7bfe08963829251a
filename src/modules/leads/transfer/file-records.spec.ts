import { performance } from 'node:perf_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import { csvRecords, ndjsonRecords } from './file-records.js';

const MIB = 1_048_576;

async function* chunksOf(...texts: (string | Buffer)[]) {
  for (const text of texts) yield Promise.resolve(Buffer.from(text as string));
}

async function linesOf(records: AsyncIterable<{ readonly line: number }>): Promise<number[]> {
  const lines: number[] = [];
  for await (const { line } of records) lines.push(line);
  return lines;
}

const csvOf = (chunks: AsyncIterable<Buffer>) => csvRecords(chunks, 'comma');

describe('records of a file', () => {
  it('of CSV have the line in which they begin, after a blank cell with line breaks, too', async () => {
    const file = 'a,b\r\n" \r\n\r\n",\r\nc,"d\r\ne"\r\nf,g\r\n';
    expect(await linesOf(csvRecords(chunksOf(file), 'comma'))).toEqual([1, 5, 7]);
  });

  it('of CSV have the same cells wherever chunks end', async () => {
    const file = Buffer.from('é,"a""\r\nb",\r\n\r" ""c""",,d\r\n,,\ne,="0,1",="0""1"\n=,=x');
    const expected = [
      ['é', 'a"\r\nb', ''],
      [' "c"', '', 'd'],
      ['e', '="0,1"', '="0""1"'],
      ['=', '=x'],
    ];
    for (let end = 0; end <= file.length; end++) {
      const cells: unknown[] = [];
      const chunks = [file.subarray(0, end), file.subarray(end)];
      for await (const record of csvRecords(chunksOf(...chunks), 'comma')) cells.push(record.cells);
      expect(cells).toEqual(expected);
    }
  });

  it('of CSV may have 16,384 cells and 1 MiB', async () => {
    const files = [`a\n${','.repeat(16_383)}b\n`, `a\n"${'""'.repeat(MIB / 2 - 2)}"\n`];
    for (const file of files) {
      expect(await linesOf(csvRecords(chunksOf(file), 'comma'))).toEqual([1, 2]);
    }
  });

  it.each([
    ['cells', `${','.repeat(16_384)}b`, 'has more than 16384 cells'],
    ['cells without a value', ','.repeat(16_384), 'has more than 16384 cells'],
    ['bytes of delimiters and cells', `${'é'.repeat(64)},`.repeat(9_000), 'is too long'],
    ['bytes of quotes', `"${'""'.repeat(MIB / 2)}"`, 'is too long'],
    ['bytes without a value', ' '.repeat(MIB), 'is too long'],
    ['bytes after a quote that is not closed', `"${' \n'.repeat(MIB / 2)}`, 'is too long'],
  ])('of CSV have a limit of %s', async (_, line, problem) => {
    const records = csvRecords(chunksOf('\na\n', `${line}\n`), 'comma');
    await expect(linesOf(records)).rejects.toThrow(`line 3 ${problem}`);
  });

  it.each([
    ['CSV', 'of records', csvOf, 'a,b\n'],
    ['CSV', 'of lines without a value', csvOf, ',\n'],
    ['NDJSON', 'of records', ndjsonRecords, '{}\n'],
    ['NDJSON', 'of empty lines', ndjsonRecords, '\n'],
  ])('of %s: a reader %s gives way to others', async (_, __, read, line) => {
    await turn();
    let now = 0;
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => (now += 5));
    const reading = linesOf(read(chunksOf(line.repeat(100))));
    const ended = reading.then(() => 'ended');
    let turns = 0;
    while ((await Promise.race([ended, turn()])) !== 'ended') turns++;
    clock.mockRestore();
    expect(turns).toBeGreaterThanOrEqual(50);
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
