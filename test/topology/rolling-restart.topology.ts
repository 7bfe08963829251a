import { describeUnless } from '../faults/support/describe-unless.js';
import { Nginx, NGINX_SKIP_REASON } from '../support/servers/nginx.js';
import { HAPROXY_SKIP_REASON } from './support/haproxy.js';
import { POSTGRES_SKIP_REASON } from './support/postgres-server.js';
import { REDIS_SKIP_REASON } from '../support/servers/redis.js';
import { Topology } from './support/topology.js';

const SKIP_REASON = POSTGRES_SKIP_REASON ?? REDIS_SKIP_REASON ?? HAPROXY_SKIP_REASON;

// The load contains calls of tools in a session of /mcp.
describeUnless(SKIP_REASON, 'a restart of the instances in turn', () => {
  const topology = new Topology({ repeats: false });

  beforeAll(() => topology.start());
  afterAll(() => topology.remove());

  async function restartInTurn() {
    for (const n of topology.instances.keys()) {
      expect(await topology.instances[n]!.stop()).toBe(0);
      await topology.startInstance(n);
    }
  }

  it('fails no request behind a load balancer that repeats no requests', async () => {
    const load = await topology.underLoad(await topology.createKey(), restartInTurn);
    expect(topology.failuresOf(load)).toEqual([]);
  });

  describeUnless(NGINX_SKIP_REASON, 'behind docker/nginx.conf', () => {
    it('fails no request', async () => {
      const nginx = await Nginx.start(topology.instancePorts);
      const url = `http://127.0.0.1:${nginx.port}`;
      const load = await topology.underLoad(await topology.createKey(), restartInTurn, url);
      expect(topology.failuresOf(load)).toEqual([]);
      await nginx.stop();
    });
  });
});
