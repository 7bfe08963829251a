import { type BatchItem, type BatchLimits, BatchQueue } from './batch-queue.js';

/** A batch that runs until the test ends it. */
interface RunningBatch {
  readonly ids: readonly string[];
  end(): void;
  fail(error: Error): void;
}

let batches: RunningBatch[];
let idle: jest.Mock;

beforeEach(() => {
  batches = [];
  idle = jest.fn();
});

/** A queue whose results are the ids of the items in upper case. */
function queueWith(limits: BatchLimits): BatchQueue<BatchItem, string> {
  return new BatchQueue(
    limits,
    (take) =>
      new Promise((resolve, reject) => {
        const ids = take().map(({ id }) => id);
        const end = () => {
          resolve(ids.map((id) => id.toUpperCase()));
        };
        batches.push({ ids, end, fail: reject });
      }),
    idle,
  );
}

const turn = () => new Promise<void>((resolve) => void setImmediate(resolve));
const addAll = (queue: BatchQueue<BatchItem, string>, ids: string) =>
  [...ids].map((id) => queue.add({ id, size: 10 }));
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

it.each([
  ['items', { concurrency: 2, maxItems: 2 }],
  ['characters', { concurrency: 2, maxSize: 25 }],
])('limits the number of %s of a batch', async (_, limits) => {
  void addAll(queueWith(limits), 'abc');
  await turn();
  await turn();
  expect(idsOf()).toEqual(['ab', 'c']);
});

it('processes an item that is larger than a batch in a batch of its own', async () => {
  const queue = queueWith({ concurrency: 2, maxSize: 25 });
  void queue.add({ id: 'a', size: 100 });
  void addAll(queue, 'b');
  await turn();
  await turn();
  expect(idsOf()).toEqual(['a', 'b']);
});

it.each([
  [false, ['ab', 'a']],
  [true, ['aba']],
])('with allowsEqualIds: %s, processes the batches %j', async (allowsEqualIds, expected) => {
  void addAll(queueWith({ concurrency: 2, allowsEqualIds }), 'aba');
  await turn();
  await turn();
  expect(idsOf()).toEqual(expected);
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
  const queue = new BatchQueue<BatchItem, string>({ concurrency: 1 }, failing);
  await expect(Promise.all(addAll(queue, 'ab'))).rejects.toThrow('no connection');
});

it('starts no other batch while one waits for a connection and can take all items', async () => {
  let connect!: () => void;
  const connected = new Promise<void>((resolve) => (connect = resolve));
  const sizes: number[] = [];
  const queue = new BatchQueue<BatchItem, string>({ concurrency: 2 }, async (take) => {
    await connected;
    const items = take();
    sizes.push(items.length);
    return items.map(({ id }) => id);
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

it('reports once that no item is left', async () => {
  const queue = queueWith({ concurrency: 2 });
  const results = addAll(queue, 'ab');
  await turn();
  expect(idle).not.toHaveBeenCalled();
  batches[0]!.end();
  await Promise.all(results);
  expect(idle).toHaveBeenCalledTimes(1);
});
