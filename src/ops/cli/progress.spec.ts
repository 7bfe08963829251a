import { createProgress } from './progress.js';

function terminal() {
  const written: string[] = [];
  return { written, write: (text: string) => written.push(text) };
}

describe('the progress bar', () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  it('is written to one line of the terminal, which ends with the work', async () => {
    // Real time could cause one more update.
    jest.useFakeTimers();
    const screen = terminal();
    const result = await createProgress(screen)(2_000, (advance) => {
      advance(500);
      advance(1_500);
      return Promise.resolve('done');
    });
    expect(result).toBe('done');
    const [first, ...rest] = screen.written;
    expect(first).toBe(`\r[${'#'.repeat(10)}${'.'.repeat(30)}] 25%  500 of 2,000`);
    expect(rest).toEqual([`\r[${'#'.repeat(40)}]100%  2,000 of 2,000`, '\n']);
  });

  it('is not updated for each step', async () => {
    const screen = terminal();
    await createProgress(screen)(100_000, (advance) => {
      for (let n = 0; n < 100_000; n++) advance(1);
      return Promise.resolve();
    });
    expect(screen.written.length).toBeLessThan(1_000);
  });

  it('ends its line when the work fails', async () => {
    const screen = terminal();
    const failing = createProgress(screen)(10, () => Promise.reject(new Error('broken')));
    await expect(failing).rejects.toThrow('broken');
    expect(screen.written.at(-1)).toBe('\n');
  });

  it('is at 100% if there is no work', async () => {
    const screen = terminal();
    await createProgress(screen)(0, () => Promise.resolve());
    expect(screen.written.join('')).toContain('100%  0 of 0');
  });

  it('is not shown without a terminal', async () => {
    const work = (advance: (by: number) => void) => {
      advance(1);
      return Promise.resolve(7);
    };
    expect(await createProgress(undefined)(1, work)).toBe(7);
  });
});
