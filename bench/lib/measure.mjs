import { untilIdle } from './database.mjs';
import { cpuOf, cpuOfFamily } from './processes.mjs';

/** Slow answers may need longer than was asked for until there is one at all. */
const LONGEST_SECONDS = 60;

/**
 * Measures entrants one at a time on an otherwise idle machine, and undoes what they write.
 * @param postmaster process id of the PostgreSQL that all of them use
 */
export function measurer({ load, client, postmaster, seconds, signal }) {
  return async ({ server, request, table, name }, { title, asks, writes }, connections) => {
    await untilIdle(client);
    const requests = asks.map(request);
    const run = { url: server.url, requests, connections, signal };
    for (let length = seconds; ; length *= 4) {
      const measured = await underLoad(server, postmaster, () =>
        load.run({ ...run, seconds: length }),
      );
      if (writes) await checkAndUndo(client, { table, writes, name }, measured.requests);
      if (measured.failed > 0)
        throw await failure(`${name}, ${title}, ${connections} connections`, server, measured);
      if (measured.requests > 0) return measured;
      if (length > LONGEST_SECONDS)
        throw await failure(`${name}, ${title}, ${connections} connections`, server, measured);
      await untilIdle(client);
    }
  };
}

async function underLoad(server, postmaster, run) {
  const before = [await cpuOf(server.pid), await cpuOfFamily(postmaster)];
  const done = await run();
  const after = [await cpuOf(server.pid), await cpuOfFamily(postmaster)];
  const [serverCpu, databaseCpu] = before.map((start, i) =>
    start === undefined ? undefined : (after[i] - start) / done.requests,
  );
  return { ...done, rate: done.requests / done.seconds, serverCpu, databaseCpu };
}

async function checkAndUndo(client, { table, writes, name }, answered) {
  await untilIdle(client);
  const written = await table.undo(writes);
  if (written < table.leastWritten(writes, answered)) {
    throw new Error(`${name} answered ${answered} requests and ${written} leads are ${writes}`);
  }
}

async function failure(what, server, { failed, requests }) {
  const counts = `${failed} requests failed and ${requests} were answered`;
  return new Error(`${what}: ${counts}; its log ends with\n${await server.lastWords()}`);
}
