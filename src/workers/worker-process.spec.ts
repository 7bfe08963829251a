import cluster from 'node:cluster';
import type { WorkerOptions } from './messages.js';
import { WorkerProcess } from './worker-process.js';

describe('a worker whose process cannot be forked', () => {
  const options = { role: 'further' } as WorkerOptions;
  const listener = { onReport: jest.fn(), replyTo: jest.fn() };

  it('fails to start at once, and can be killed', async () => {
    cluster.setupPrimary({ cwd: '/not/a/directory' });
    const worker = new WorkerProcess(options, listener);
    await expect(worker.ready).rejects.toThrow(
      /^it ended before it was ready \(spawn .* ENOENT\)$/,
    );
    await worker.kill();
    expect(worker.pid).toBeUndefined();
  });

  it('keeps no state of a report that does not arrive', async () => {
    cluster.setupPrimary({ cwd: '/not/a/directory' });
    const worker = new WorkerProcess(options, listener);
    await expect(worker.requestReport(1)).rejects.toThrow('There is no reply after 1 ms.');
    const { reports } = worker as unknown as { reports: ReadonlyMap<number, unknown> };
    expect(reports.size).toBe(0);
    await worker.kill();
  });
});
