import { setImmediate as nextTurn } from 'node:timers/promises';
import { KeyedQueue } from './queues.js';

let queue: KeyedQueue;
let started: string[];

beforeEach(() => {
  queue = new KeyedQueue();
  started = [];
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await nextTurn();
}

/** Starts work that ends when the returned function is called. */
function start(
  key: string,
  name: string,
): { end: (error?: Error) => void; result: Promise<string> } {
  let end!: (error?: Error) => void;
  const result = queue.run(key, () => {
    started.push(name);
    return new Promise<string>((resolve, reject) => {
      end = (error) => {
        if (error) reject(error);
        else resolve(name);
      };
    });
  });
  return {
    end: (error) => {
      end(error);
    },
    result,
  };
}

it('runs work with the same key in the order of the calls, and other work at once', async () => {
  const [first, second, third] = ['first', 'second', 'third'].map((name) => start('a', name));
  start('b', 'other');
  expect(started).toEqual(['first', 'other']);
  first!.end();
  expect(await first!.result).toBe('first');
  await until(() => started.includes('second'));
  expect(started).not.toContain('third');
  second!.end();
  await until(() => started.includes('third'));
  third!.end();
  expect(await third!.result).toBe('third');
});

it('continues after work that failed, whose caller gets the error', async () => {
  const failing = start('a', 'failing');
  const next = queue.run('a', () => Promise.resolve('next'));
  failing.end(new Error('failed'));
  await expect(failing.result).rejects.toThrow('failed');
  expect(await next).toBe('next');
});

it('does not wait longer than 250 ms', async () => {
  jest.useFakeTimers();
  start('a', 'hanging');
  const next = queue.run('a', () => Promise.resolve('next'));
  await jest.advanceTimersByTimeAsync(251);
  expect(await next).toBe('next');
  jest.useRealTimers();
});
