import { SkipThrottle, Throttle } from '@nestjs/throttler';
import { skipsOf, throttlesOf } from './throttler-internals.js';

const getTracker = () => 'a';

@Throttle({ default: { limit: 1, ttl: 2 }, writes: { limit: 3, blockDuration: 4, getTracker } })
@SkipThrottle({ reads: false })
class Things {
  @SkipThrottle()
  list(): void {
    // Only its metadata is read.
  }
}

describe('the metadata of @nestjs/throttler', () => {
  it('has the options of @Throttle by name', () => {
    expect(throttlesOf(Things)).toEqual({
      default: { limit: 1, ttl: 2 },
      writes: { limit: 3, blockDuration: 4, getTracker },
    });
    expect(throttlesOf(Things.prototype)).toEqual({});
  });

  it('has the limits that @SkipThrottle skips', () => {
    const { list } = Things.prototype as unknown as Record<'list', object>;
    expect([skipsOf(Things), skipsOf(list)]).toEqual([{ reads: false }, { default: true }]);
  });
});
