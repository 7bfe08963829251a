import { ApiClient } from '../../../src/testing/api-client.js';
import { Load, type Sample } from '../../faults/support/load.js';
import { createOrganization } from '../../support/command-line.js';
import { freePort } from '../../support/servers/free-port.js';
import { Product, type RunningServer, UNLIMITED, until } from '../../support/servers/product.js';
import { RedisServer } from '../../support/servers/redis.js';
import { HaProxy } from './haproxy.js';
import { readiness } from './observe.js';
import { PostgresServer } from './postgres-server.js';

/** Polls often enough for the tests, and without a noticeable load. */
export const POLL_SLOWLY = { everyMs: 200 };

const STANDBYS = ['one', 'other'] as const;

/** A request that failed. */
interface FailedSample extends Sample {
  readonly log: readonly string[];
}

/**
 * Two instances behind a load balancer, with Redis, a primary and two standbys, one of which confirms each
 * commit.
 */
export class Topology {
  readonly instances: RunningServer[] = [];
  /** All instances, including those that have stopped. */
  private readonly started: RunningServer[] = [];
  private readonly servers: PostgresServer[] = [];
  private ports: readonly number[] = [];
  private redisServer: RedisServer | undefined;
  private haProxy: HaProxy | undefined;
  private product = new Product();

  /** @param options.repeats whether the load balancer repeats requests */
  constructor(private readonly options = { repeats: true }) {}

  async start(): Promise<void> {
    const primary = await PostgresServer.primary({
      synchronous_standby_names: `ANY 1 (${STANDBYS.join(', ')})`,
    });
    this.servers.push(primary);
    for (const name of STANDBYS) this.servers.push(await primary.createStandby(name));
    // The user of docker/is-primary.
    await primary.sql('create role latitude_check login');
    this.redisServer = await RedisServer.start();
    this.ports = [await freePort(), await freePort()];
    this.haProxy = await HaProxy.start(this.ports, this.servers, this.options.repeats);
    await this.balancer.untilUp('postgres', 1);
    this.product = new Product({
      DATABASE_URL: this.balancer.databaseUrl,
      DATABASE_REPLICA_URLS: this.standbys.map((standby) => standby.url()).join(),
      REDIS_URL: this.redis.url,
      ...UNLIMITED,
    });
    await Promise.all(this.ports.map((_, n) => this.spawnInstance(n)));
    await this.balancer.untilUp('latitude', this.ports.length);
  }

  get primary(): PostgresServer {
    return this.servers[0]!;
  }

  get standbys(): readonly PostgresServer[] {
    return this.servers.slice(1);
  }

  get redis(): RedisServer {
    return this.redisServer!;
  }

  get balancer(): HaProxy {
    return this.haProxy!;
  }

  /** The ports of the instances. */
  get instancePorts(): readonly number[] {
    return this.ports;
  }

  /** Starts an instance again and waits until the load balancer uses both. */
  async startInstance(n: number): Promise<void> {
    await this.spawnInstance(n);
    await this.balancer.untilUp('latitude', this.ports.length);
  }

  private async spawnInstance(n: number): Promise<void> {
    const instance = await this.product.start({ PORT: String(this.ports[n]) });
    this.instances[n] = instance;
    this.started.push(instance);
  }

  async createKey(): Promise<string> {
    return (await createOrganization(this.product.environment)).key;
  }

  /** Waits until all instances are ready without warnings. */
  async untilReady(): Promise<void> {
    await until(async () => {
      const reports = await Promise.all(this.instances.map(readiness));
      return reports.every(({ status, warnings = [] }) => status === 'ok' && warnings.length === 0);
    }, POLL_SLOWLY);
  }

  /**
   * Causes a fault under load and expects that no acknowledged write is lost.
   * @param fault returns when the fault is over
   * @param url the load balancer that gets the requests
   * @returns the requests
   */
  async underLoad(key: string, fault: () => Promise<void>, url = this.balancer.url): Promise<Load> {
    const load = await Load.start(url, key);
    try {
      await fault();
      const since = performance.now();
      await until(() => Promise.resolve(load.recoveryTime(since) < Infinity), POLL_SLOWLY);
    } finally {
      await load.stop();
    }
    await load.writeLog.expectConsistent(new ApiClient(this.balancer.url, key));
    return load;
  }

  /** The failed requests, with what the instances logged about them. */
  failuresOf({ samples }: Load): FailedSample[] {
    const lines = this.started.flatMap(({ stdout }) => stdout.split('\n'));
    return samples.flatMap((sample) => {
      const { refusal } = sample;
      if (!refusal) return [];
      const { request_id: id } = refusal;
      return { ...sample, log: id ? lines.filter((line) => line.includes(id)) : [] };
    });
  }

  /** Also removes what was started before `start` failed. */
  async remove(): Promise<void> {
    await this.product.remove();
    await this.haProxy?.stop();
    await this.redisServer?.kill();
    await Promise.all(this.servers.map((server) => server.remove()));
  }
}
