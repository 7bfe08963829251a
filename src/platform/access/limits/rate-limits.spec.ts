import type { DiscoveryService } from '@nestjs/core';
import type { Instances } from '../../data/instances.js';
import { MemoryRateLimitStorage, type RateWindow } from './rate-limit.storage.js';
import { RateLimits } from './rate-limits.js';

const options = {
  throttlers: [{ name: 'reads' as const, ttl: 60_000, limit: 5 }],
  storage: new MemoryRateLimitStorage(),
  trustedAddresses: [],
};
const limits = new RateLimits(options, {} as Instances, {} as DiscoveryService);

const hitsOf = (address: string) => (limits.peek('reads', address) as RateWindow).totalHits;

describe('the window of an address', () => {
  it.each([
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8::1', '2001:db8:0:0:8::2'],
    ['fe80::1%eth0', 'fe80::2'],
  ])('of %s is that of %s', async (counted, same) => {
    await limits.count('reads', counted);
    expect(hitsOf(same)).toBe(1);
  });

  it('is not that of another subnet', () => {
    expect(hitsOf('2001:db8:0:1::1')).toBe(0);
  });
});
