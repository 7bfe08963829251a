import { existsSync, writeFileSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { locateCluster, prepareCluster } from '../../../src/ops/embedded-postgres/cluster.js';
import {
  connectionThrough,
  ensureDatabase,
} from '../../../src/ops/embedded-postgres/connection.js';
import { findInstallation } from '../../../src/ops/embedded-postgres/runtime.js';
import { startPostmaster } from '../../../src/ops/embedded-postgres/postmaster.js';
import { prepareRuntime } from '../../../src/ops/embedded-postgres/runtime.js';
import { withPid } from '../../support/servers/postmaster.js';
import type { Postgres } from './postgres.js';

const START_TIMEOUT_MS = 50_000;

/** Path in Debian's package `faketime`. */
const LIBRARY = ['x86_64-linux-gnu', 'aarch64-linux-gnu']
  .map((platform) => `/usr/lib/${platform}/faketime/libfaketimeMT.so.1`)
  .find(existsSync);

export const CLOCK_SKIP_REASON = LIBRARY === undefined ? 'libfaketime is not installed' : undefined;

/** A fake system clock for the processes that are started with its `env`. */
export class Clock {
  private readonly file: string;

  constructor(private readonly directory: string) {
    this.file = path.join(directory, 'clock');
    this.set(0);
  }

  /** Environment variables that apply this clock to a process. The monotonic clock is not changed. */
  get env(): Record<string, string> {
    return {
      LD_PRELOAD: LIBRARY!,
      FAKETIME_TIMESTAMP_FILE: this.file,
      FAKETIME_NO_CACHE: '1',
      DONT_FAKE_MONOTONIC: '1',
      NO_FAKE_STAT: '1',
    };
  }

  /** Sets the offset from the real time. */
  set(hours: number): void {
    writeFileSync(this.file, `${hours < 0 ? '-' : '+'}${Math.abs(hours)}h\n`);
  }

  /** Starts a PostgreSQL under this clock. */
  async startPostgres(): Promise<Postgres> {
    const signal = AbortSignal.timeout(START_TIMEOUT_MS);
    const cluster = await locateCluster(path.join(this.directory, 'data'));
    const { dataDirectory, directory, socketDirectory } = cluster;
    const runtime = await prepareRuntime(await findInstallation(), dataDirectory, directory);
    await prepareCluster(cluster, runtime, signal);
    const binaries = await this.wrap(runtime.binaries);
    const launch = { cluster, runtime: { ...runtime, binaries }, flags: [], log: () => undefined };
    const stop = await startPostmaster(launch, signal);
    const connection = connectionThrough(socketDirectory);
    await ensureDatabase(connection);
    return withPid({ connection, stop }, dataDirectory);
  }

  /** A directory of binaries whose `postgres` is the given one under this clock. */
  private async wrap(binaries: string): Promise<string> {
    const env = Object.entries(this.env).map(([name, value]) => `${name}=${value}`);
    const postgres = path.join(this.directory, 'bin/postgres');
    await mkdir(path.dirname(postgres));
    await writeFile(
      postgres,
      `#!/bin/sh\nexec env ${env.join(' ')} ${binaries}/bin/postgres "$@"\n`,
    );
    await chmod(postgres, 0o755);
    return this.directory;
  }
}
