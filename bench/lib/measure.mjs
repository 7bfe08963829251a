import { waitUntilIdle } from './database.mjs';
import { cpuOf, cpuOfProcessTree } from './processes.mjs';

/** Limit up to which a measurement without any response is extended, in seconds. */
const LONGEST_SECONDS = 60;

/**
 * Measures targets one at a time on an otherwise idle machine, and restores what they write.
 * @param postmaster process id of their PostgreSQL
 */
export function measurer({ load, client, postmaster, seconds, signal }) {
  return async ({ server, request, table, name }, { title, operations, writes }, connections) => {
    await waitUntilIdle(client);
    const requests = operations.map(request);
    const run = { url: server.url, requests, connections, signal };
    for (let length = seconds; ; length *= 4) {
      const measured = await underLoad(server, postmaster, () =>
        load.run({ ...run, seconds: length }),
      );
      if (writes) await checkAndRestore(client, { table, writes, name }, measured.requests);
      if (measured.failed > 0)
        throw await failure(`${name}, ${title}, ${connections} connections`, server, measured);
      if (measured.requests > 0) return measured;
      if (length > LONGEST_SECONDS)
        throw await failure(`${name}, ${title}, ${connections} connections`, server, measured);
      await waitUntilIdle(client);
    }
  };
}

async function underLoad(server, postmaster, run) {
  const before = [await cpuOf(server.pid), await cpuOfProcessTree(postmaster)];
  const done = await run();
  const after = [await cpuOf(server.pid), await cpuOfProcessTree(postmaster)];
  const [serverCpu, databaseCpu] = before.map((start, i) =>
    start === undefined ? undefined : (after[i] - start) / done.requests,
  );
  return { ...done, rate: done.requests / done.seconds, serverCpu, databaseCpu };
}

async function checkAndRestore(client, { table, writes, name }, answered) {
  await waitUntilIdle(client);
  const written = await table.restore(writes);
  if (written < table.leastWritten(writes, answered)) {
    throw new Error(`${name} answered ${answered} requests and ${written} leads are ${writes}`);
  }
}

async function failure(what, server, { failed, requests }) {
  const counts = `${failed} requests failed and ${requests} were answered`;
  return new Error(`${what}: ${counts}; its log ends with\n${await server.logTail()}`);
}
