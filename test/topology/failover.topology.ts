import { setTimeout as after } from 'node:timers/promises';
import { describeUnless } from '../faults/support/describe-unless.js';
import type { Load } from '../faults/support/load.js';
import { until } from '../support/servers/product.js';
import { expectShorter } from '../support/times.js';
import { REDIS_SKIP_REASON } from '../support/servers/redis.js';
import { HAPROXY_SKIP_REASON } from './support/haproxy.js';
import { counted } from './support/observe.js';
import { POSTGRES_SKIP_REASON, type PostgresServer } from './support/postgres-server.js';
import { POLL_SLOWLY, Topology } from './support/topology.js';

/**
 * Maximum time from a promotion until every kind of request succeeds again, in addition to the time that one request
 * of each kind takes without a fault.
 */
const MAX_RECOVERY_MS = 5_000;

/** Longer than the timeout of the checks of replicas. */
const PAUSE_MS = 1_700;

const SKIP_REASON = POSTGRES_SKIP_REASON ?? REDIS_SKIP_REASON ?? HAPROXY_SKIP_REASON;

// The load contains calls of tools in a session of /mcp: each test also shows that no session is lost.
describeUnless(SKIP_REASON, 'two instances behind a load balancer under load', () => {
  const topology = new Topology();
  let key: string;

  beforeAll(async () => {
    await topology.start();
    key = await topology.createKey();
  });
  afterAll(() => topology.remove());
  beforeEach(() => topology.untilReady());

  it('fail no request while they are restarted in turn', async () => {
    const load = await topology.underLoad(key, async () => {
      for (const n of [0, 1]) {
        expect(await topology.instances[n]!.stop()).toBe(0);
        await topology.startInstance(n);
      }
    });
    expect(topology.failuresOf(load)).toEqual([]);
  });

  it('lose no acknowledged write when one of them is killed', async () => {
    const load = await topology.underLoad(key, async () => {
      topology.instances[0]!.signal('SIGKILL');
      await topology.instances[0]!.ended;
      await topology.startInstance(0);
    });
    report('instance killed', load);
  });

  it('fail no request after one of them was paused', async () => {
    const load = await topology.underLoad(key, async () => {
      for (let n = 0; n < 3; n++) {
        topology.instances[0]!.signal('SIGSTOP');
        await after(PAUSE_MS);
        topology.instances[0]!.signal('SIGCONT');
        await after(PAUSE_MS);
      }
    });
    expect(topology.failuresOf(load)).toEqual([]);
  });

  it('fail no request while Redis is down', async () => {
    const load = await topology.underLoad(key, async () => {
      await topology.redis.kill();
      await until(async () => (await shared()) === 0, POLL_SLOWLY);
      await topology.redis.start();
      await until(async () => (await shared()) === topology.instances.length, POLL_SLOWLY);
    });
    expect(topology.failuresOf(load)).toEqual([]);
  });

  it('fail no request while a replica is down', async () => {
    const [replica] = topology.standbys;
    const load = await topology.underLoad(key, async () => {
      await replica!.kill();
      await until(async () => (await replicasInUse()) === topology.instances.length, POLL_SLOWLY);
      await replica!.start();
      await until(
        async () => (await replicasInUse()) === 2 * topology.instances.length,
        POLL_SLOWLY,
      );
    });
    expect(topology.failuresOf(load)).toEqual([]);
  });

  it('serve within seconds after the primary was killed and a standby promoted', async () => {
    let promotedAt = 0;
    let promoted: PostgresServer[] = [];
    const load = await topology.underLoad(key, async () => {
      await topology.primary.kill();
      promoted = await mostAdvancedFirst(topology.standbys);
      const [next, other] = promoted;
      await next!.promote();
      promotedAt = performance.now();
      // Until it follows, no standby confirms commits.
      await other!.follow(next!);
    });
    report('primary killed, standby promoted', load);
    expectShorter(load.delayAfter(promotedAt), MAX_RECOVERY_MS);
    // The restart point confirms the timeline of the other standby.
    for (const server of promoted) await server.sql('checkpoint');
    await until(async () => (await replicasInUse()) === topology.instances.length, POLL_SLOWLY);
  });

  async function sum(metric: string): Promise<number> {
    const counts = await Promise.all(topology.instances.map((each) => counted(each, metric)));
    return counts.reduce((total, count) => total + count, 0);
  }

  /** The number of instances that share their rate limits. */
  const shared = () => sum('latitude_rate_limits_shared');
  const replicasInUse = () => sum('latitude_replica_used');
});

/** Prints the results of the requests. */
function report(name: string, load: Load): void {
  const failures = load.samples.flatMap(({ refusal }) => refusal ?? []);
  const codes = [...new Set(failures.map(({ code }) => code))].join(', ');
  process.stdout.write(
    `${name}: ${load.samples.length} requests, ${failures.length} failed ${codes}, ` +
      `${load.writeLog.acknowledged} acknowledged writes, none lost\n`,
  );
}

/** Each commit was confirmed by one standby. Only the standby with more of the log has all commits. */
async function mostAdvancedFirst(standbys: readonly PostgresServer[]): Promise<PostgresServer[]> {
  const known = await Promise.all(
    standbys.map(async (server) => ({ server, received: await server.received() })),
  );
  return known.sort((a, b) => b.received - a.received).map(({ server }) => server);
}
