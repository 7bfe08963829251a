import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { isAccepting } from '../../src/ops/embedded-postgres/connection.js';
import { until } from '../support/servers/product.js';
import { expectRecovery, LONG_MS } from './support/recovery.js';
import { openPostgres } from './support/postgres.js';
import { describeUnless } from './support/describe-unless.js';
import { FaultEnvironment } from './support/environment.js';

// Broken on purpose for docs/operating/runbook.md#the-disk-of-the-database-is-full

const SIZE = '256m';

describeUnless(mountSkipReason(), 'a disk of its own', () => {
  let directory: string;
  let environment: FaultEnvironment;

  beforeAll(async () => {
    directory = makeDirectory();
    mount(directory);
    environment = await FaultEnvironment.start(await openPostgres(path.join(directory, 'data')));
  });
  afterAll(async () => {
    await environment.close();
    unmount(directory);
    rmdirSync(directory);
  });

  it('disk full', async () => {
    await expectRecovery(environment, 'disk full', async ({ postgres }) => {
      const ballast = path.join(directory, 'ballast');
      await fill(ballast);
      await after(LONG_MS);
      await rm(ballast);
      await until(() => isAccepting(postgres.connection), { everyMs: 5 });
    });
  });
});

/** Fills the file system with a file, in ever smaller chunks. */
async function fill(file: string): Promise<void> {
  const handle = await open(file, 'w');
  try {
    for (let size = 2 ** 20; size >= 1; size /= 16) {
      const piece = Buffer.alloc(size);
      await expect(
        (async () => {
          for (;;) await handle.writeFile(piece);
        })(),
      ).rejects.toMatchObject({ code: 'ENOSPC' });
    }
  } finally {
    await handle.close();
  }
}

/** The reason why no file system can be mounted; undefined if it can. */
function mountSkipReason(): string | undefined {
  const directory = makeDirectory();
  try {
    mount(directory);
    unmount(directory);
    return undefined;
  } catch {
    return 'this user may not mount a file system';
  } finally {
    rmdirSync(directory);
  }
}

function makeDirectory(): string {
  return mkdtempSync(path.join(os.tmpdir(), 'latitude-disk-'));
}

function mount(directory: string): void {
  const options = ['-t', 'tmpfs', '-o', `size=${SIZE}`];
  execFileSync('mount', [...options, 'latitude-faults', directory], { stdio: 'pipe' });
}

function unmount(directory: string): void {
  execFileSync('umount', [directory], { stdio: 'pipe' });
}
