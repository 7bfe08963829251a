import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { ApiClient } from '../../../../src/testing/api-client.js';
import { createLead, dataOf, getLead, LEADS } from '../../../../src/testing/factories.js';
import { latitude } from '../../../support/command-line.js';
import { temporaryFile } from '../../../support/database/backups.js';
import {
  FIRST_KEY,
  Product,
  type RunningServer,
  UNLIMITED,
  until,
} from '../../../support/servers/product.js';

const WRITERS = 8;

/** A lead, and the number of its last change that the server has acknowledged. */
interface Written {
  readonly id: string;
  change: number;
}

/** Creates leads and changes each of them, until it is stopped. */
class Writers {
  readonly written: Written[] = [];
  private readonly running: Promise<void>[];
  private isStopped = false;

  constructor(private readonly api: ApiClient) {
    this.running = Array.from({ length: WRITERS }, () => this.write());
  }

  /** What was acknowledged so far. */
  acknowledged(): Written[] {
    return this.written.map((one) => ({ ...one }));
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await Promise.all(this.running);
  }

  private async write(): Promise<void> {
    while (!this.isStopped) {
      const lead: Written = { id: (await createLead(this.api)).id, change: 0 };
      this.written.push(lead);
      for (const change of [1, 2]) {
        dataOf(await this.api.put(`${LEADS}/${lead.id}`, { company: String(change) }));
        lead.change = change;
      }
    }
  }
}

describe('a backup of the embedded database under load', () => {
  const product = new Product(UNLIMITED);
  const restored = new Product(UNLIMITED);
  const directory = path.join(product.dataDir, 'backups');
  let server: RunningServer;

  beforeAll(async () => {
    server = await product.start({ BACKUP_DIR: directory });
  });
  afterAll(async () => {
    await product.remove();
    await restored.remove();
  });

  it('holds every write that was acknowledged before it began, where it is restored', async () => {
    const key = server.printed(FIRST_KEY)!;
    const writers = new Writers(new ApiClient(server.url, key));
    await until(() => Promise.resolve(writers.written.length >= 4 * WRITERS));
    const before = writers.acknowledged();
    const file = temporaryFile();
    await latitude(product.environment, 'backup', file);
    // The load goes on during the whole backup.
    const during = writers.written.length;
    await until(() => Promise.resolve(writers.written.length > during));
    await writers.stop();

    await latitude(restored.environment, 'restore', '--resume', file);
    const copy = await restored.start();
    expect(await latitude(restored.environment, 'counters', 'check')).toMatchObject({ wrong: [] });
    const api = new ApiClient(copy.url, key);
    for (const { id, change } of before) {
      const { company } = await getLead(api, id);
      expect(Number(company ?? 0)).toBeGreaterThanOrEqual(change);
    }
  });

  it('is also made by the server itself, as soon as it listens', async () => {
    await server.untilPrinted(/a backup was made and verified/);
    const [name] = (await readdir(directory)).filter((one) => one.endsWith('.backup'));
    const file = path.join(directory, name!);
    expect(await latitude({}, 'restore', '--verify', file)).toMatchObject({
      tables: { organizations: 1, api_keys: 2 },
    });
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    expect(metrics).toContain('latitude_backups_total{outcome="succeeded"} 1\n');
  });
});
