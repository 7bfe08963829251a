import { describeUnless } from '../faults/support/describe-unless.js';
import { HAPROXY_SKIP_REASON } from './support/haproxy.js';
import { POSTGRES_SKIP_REASON } from './support/postgres-server.js';
import { REDIS_SKIP_REASON } from '../support/servers/redis.js';
import { Topology } from './support/topology.js';

const SKIP_REASON = POSTGRES_SKIP_REASON ?? REDIS_SKIP_REASON ?? HAPROXY_SKIP_REASON;

describeUnless(SKIP_REASON, 'a load balancer that repeats no requests', () => {
  const topology = new Topology({ repeats: false });

  beforeAll(() => topology.start());
  afterAll(() => topology.remove());

  // The load contains calls of tools in a session of /mcp.
  it('sees no failure and no lost session while instances are restarted in turn', async () => {
    const load = await topology.underLoad(await topology.createKey(), async () => {
      for (const n of topology.instances.keys()) {
        expect(await topology.instances[n]!.stop()).toBe(0);
        await topology.startInstance(n);
      }
    });
    expect(topology.failuresOf(load)).toEqual([]);
  });
});
