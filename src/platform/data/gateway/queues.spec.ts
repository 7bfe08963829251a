import { type BatchOptions, BatchQueue } from './queues.js';

/** A batch that runs until the test ends it. */
interface RunningBatch {
  readonly ids: readonly string[];
  end(): void;
  fail(error: Error): void;
}

let batches: RunningBatch[];

beforeEach(() => {
  batches = [];
});

/** A queue whose results are the items in upper case. */
function queueWith(options: BatchOptions<string>): BatchQueue<string, string> {
  return new BatchQueue(
    options,
    (take) =>
      new Promise((resolve, reject) => {
        const ids = take();
        const end = () => {
          resolve(ids.map((id) => id.toUpperCase()));
        };
        batches.push({ ids, end, fail: reject });
      }),
  );
}

const turn = () => new Promise<void>((resolve) => void setImmediate(resolve));
const addAll = (queue: BatchQueue<string, string>, items: string) =>
  [...items].map((item) => queue.add(item));
const idsOf = () => batches.map(({ ids }) => ids.join(''));

it('processes the items of one turn of the event loop in one batch', async () => {
  const results = addAll(queueWith({ concurrency: 2 }), 'abc');
  await turn();
  expect(idsOf()).toEqual(['abc']);
  batches[0]!.end();
  expect(await Promise.all(results)).toEqual(['A', 'B', 'C']);
});

it('collects the items that arrive while as many batches run as are allowed', async () => {
  const queue = queueWith({ concurrency: 2 });
  void addAll(queue, 'a');
  await turn();
  void addAll(queue, 'b');
  await turn();
  const results = [...addAll(queue, 'c'), ...addAll(queue, 'd')];
  await turn();
  expect(idsOf()).toEqual(['a', 'b']);
  batches[1]!.end();
  await turn();
  expect(idsOf()).toEqual(['a', 'b', 'cd']);
  batches[2]!.end();
  expect(await Promise.all(results)).toEqual(['C', 'D']);
});

it('takes as many of the oldest items as the batch has room for', async () => {
  const batchSize = (items: readonly string[]) => (items[0] === 'a' ? 2 : 1);
  void addAll(queueWith({ concurrency: 3, batchSize }), 'abcd');
  for (let n = 0; n < 3; n++) await turn();
  expect(idsOf()).toEqual(['ab', 'c', 'd']);
});

it('takes all items if the size of batches is not limited', async () => {
  void addAll(queueWith({ concurrency: 2 }), 'a'.repeat(70));
  await turn();
  await turn();
  expect(idsOf().map(({ length }) => length)).toEqual([70]);
});

it('rejects all items of a batch that fails, and no others', async () => {
  const queue = queueWith({ concurrency: 1 });
  const failing = addAll(queue, 'ab');
  await turn();
  const later = addAll(queue, 'c');
  batches[0]!.fail(new Error('the connection was lost'));
  const outcomes = await Promise.allSettled(failing);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  batches[1]!.end();
  expect(await Promise.all(later)).toEqual(['C']);
});

it('rejects the waiting items if a batch fails before it takes them', async () => {
  const failing = () => Promise.reject(new Error('no connection'));
  const queue = new BatchQueue<string, string>({ concurrency: 1 }, failing);
  await expect(Promise.all(addAll(queue, 'ab'))).rejects.toThrow('no connection');
});

it('starts no other batch while one waits for a connection and can take all items', async () => {
  let connect!: () => void;
  const connected = new Promise<void>((resolve) => (connect = resolve));
  const sizes: number[] = [];
  const queue = new BatchQueue<string, string>({ concurrency: 2 }, async (take) => {
    await connected;
    const items = take();
    sizes.push(items.length);
    return items;
  });
  const first = addAll(queue, 'a');
  await turn();
  const second = addAll(queue, 'b');
  await turn();
  connect();
  expect(await Promise.all([...first, ...second])).toEqual(['a', 'b']);
  expect(sizes).toEqual([2]);
});

it('lets a limited number of callers continue in a turn of the event loop', async () => {
  const continued: string[] = [];
  const results = addAll(queueWith({ concurrency: 2, callersPerTurn: () => 2 }), 'abcde');
  for (const result of results) void result.then((id) => continued.push(id));
  await turn();
  batches[0]!.end();
  const seen: string[] = [];
  while (continued.length < results.length) {
    await turn();
    seen.push(continued.join(''));
  }
  expect(seen).toEqual(['AB', 'ABCD', 'ABCDE']);
});

it('starts the next batch before all callers of the last one have continued', async () => {
  const queue = queueWith({ concurrency: 1, callersPerTurn: () => 1 });
  const results = addAll(queue, 'ab');
  let hasLastContinued = false;
  void results[1]!.then(() => (hasLastContinued = true));
  await turn();
  void addAll(queue, 'c');
  batches[0]!.end();
  await results[0];
  expect(idsOf()).toEqual(['ab', 'c']);
  expect(hasLastContinued).toBe(false);
});
