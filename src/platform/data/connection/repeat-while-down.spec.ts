import pg from 'pg';
import { SettingError } from '../../config/setting.js';
import { repeatWhileDown } from './repeat-while-down.js';

jest.mock('node:timers/promises', () => ({
  setTimeout: (ms: number, _: undefined, { signal }: { signal?: AbortSignal }) => {
    if (signal?.aborted) return Promise.reject(signal.reason as Error);
    jest.advanceTimersByTime(ms);
    return Promise.resolve();
  },
}));

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const coded = (error: Error, code: string) => Object.assign(error, { code });
const refused = () => coded(new Error('connect ECONNREFUSED'), 'ECONNREFUSED');

it.each<[string, Error]>([
  ['refuses connections', refused()],
  ['refuses connections to both addresses', coded(new AggregateError([]), 'ECONNREFUSED')],
  ['resets connections', coded(new Error('read ECONNRESET'), 'ECONNRESET')],
  ['closes connections', new Error('Connection terminated unexpectedly')],
  ['starts', coded(new pg.DatabaseError('starting up', 1, 'error'), '57P03')],
  ['stops', coded(new pg.DatabaseError('terminating', 1, 'error'), '57P01')],
  [
    'is down, which another error reports',
    new SettingError('DATABASE_URL', 'bad', { cause: refused() }),
  ],
])('repeats the work while the database %s', async (_, error) => {
  const work = jest.fn().mockRejectedValueOnce(error).mockRejectedValueOnce(error);
  work.mockResolvedValue('done');
  expect(await repeatWhileDown(work)).toBe('done');
  expect(work).toHaveBeenCalledTimes(3);
});

it('does not repeat work that fails for another reason', async () => {
  const wrongPassword = coded(new pg.DatabaseError('password', 1, 'error'), '28P01');
  const work = jest.fn().mockRejectedValue(wrongPassword);
  await expect(repeatWhileDown(work)).rejects.toBe(wrongPassword);
  expect(work).toHaveBeenCalledTimes(1);
});

it('throws the last error after ten seconds', async () => {
  const error = refused();
  const started = performance.now();
  await expect(repeatWhileDown(() => Promise.reject(error))).rejects.toBe(error);
  expect(performance.now() - started).toBe(10_000);
});

it('ends with the signal', async () => {
  const controller = new AbortController();
  const work = jest.fn().mockImplementation(() => {
    controller.abort();
    return Promise.reject(refused());
  });
  await expect(repeatWhileDown(work, controller.signal)).rejects.toBe(controller.signal.reason);
  expect(work).toHaveBeenCalledTimes(1);
});
