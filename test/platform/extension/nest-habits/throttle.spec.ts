import { Controller, Get, Module, Post } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import {
  SkipThrottle,
  Throttle,
  ThrottlerGuard,
  ThrottlerModule,
  ThrottlerStorage,
} from '@nestjs/throttler';
import { AnyKey, Public, RequireScope } from '../../../../src/platform/http/routes/access.js';
import type { ApiRequest } from '../../../../src/platform/http/request/api-request.js';
import { MemoryRateLimitStorage } from '../../../../src/platform/access/limits/rate-limit.storage.js';
import type { Answer } from '../../../../src/testing/api-client.js';
import { expectEnvelope } from '../../../../src/testing/envelope.js';
import { dataOf, errorOf, expectError, LEADS } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { unregisterDocument } from '../../../../src/testing/validate-answer.js';

const MINUTE = 60_000;
const PATH = '/api/v1/throttled';

@Controller(PATH)
@Throttle({ default: { limit: 2, ttl: MINUTE } })
class ThrottledController {
  @Get('by-class')
  @AnyKey()
  byClass() {
    return {};
  }

  @Get('by-method')
  @Throttle({ reads: { limit: 1, ttl: 3 * MINUTE } })
  @AnyKey()
  byMethod() {
    return {};
  }

  @Post('by-class')
  @RequireScope('leads:write')
  write() {
    return {};
  }

  @Post('reads-only')
  @Throttle({ default: {}, reads: { limit: 1 } })
  @RequireScope('leads:write')
  readsOnly() {
    return {};
  }

  @Get('skipped')
  @SkipThrottle()
  @AnyKey()
  skipped() {
    return {};
  }

  @Get('dynamic')
  @Throttle({
    default: {
      limit: (context) => {
        const { state } = context.switchToHttp().getRequest<ApiRequest>();
        return state.call?.actor.scopes.has('leads:write') ? 5 : 1;
      },
      getTracker: (request) => (request as ApiRequest).state.call!.tenant.id,
    },
  })
  @AnyKey()
  dynamic() {
    return {};
  }

  @Get('public')
  @Public()
  open() {
    return {};
  }
}

@Module({ controllers: [ThrottledController] })
class ThrottledModule {}

const limitsOf = ({ headers }: Answer) => ({
  limit: Number(headers.get('ratelimit-limit')),
  remaining: Number(headers.get('ratelimit-remaining')),
});

describe('@Throttle and @SkipThrottle', () => {
  let app: TestApp;
  let tenant: Tenant;

  beforeAll(async () => {
    const settings = { readsPerMinute: 10, writesPerMinute: 10 };
    app = await TestApp.start({ modules: [ThrottledModule], settings });
  });
  beforeEach(async () => {
    tenant = await app.organization();
  });
  afterAll(() => app.stop());

  const get = (route: string, { api }: Tenant = tenant) => api.get(`${PATH}/${route}`);

  it('limits a route by the options of its class, for each key', async () => {
    expect(limitsOf(await get('by-class'))).toEqual({ limit: 2, remaining: 1 });
    expect(limitsOf(await get('by-class'))).toEqual({ limit: 2, remaining: 0 });
    const limited = await get('by-class');
    expectError(limited, 429, 'rate_limit_exceeded');
    expect(errorOf(limited).message).toContain('2 reads in 60 seconds');
    const wait = Number(limited.headers.get('retry-after'));
    expect(wait).toBeGreaterThan(50);
    expect(wait).toBeLessThanOrEqual(60);
    const other = await app.key(tenant.id);
    expect(limitsOf(await get('by-class', other))).toEqual({ limit: 2, remaining: 1 });
  });

  it('limits a route by the options of its method, in a window of this length', async () => {
    const answer = await get('by-method');
    expect(limitsOf(answer)).toEqual({ limit: 1, remaining: 0 });
    const seconds = Number(answer.headers.get('ratelimit-reset')) - Date.now() / 1000;
    expect(seconds).toBeGreaterThan(170);
    expectError(await get('by-method'), 429, 'rate_limit_exceeded');
  });

  it('counts each route separately and not against the shared limits', async () => {
    await get('by-class');
    await get('by-method');
    const write = await tenant.api.post(`${PATH}/by-class`, {});
    expect(limitsOf(write)).toEqual({ limit: 2, remaining: 1 });
    expect(limitsOf(await tenant.api.get(LEADS))).toEqual({ limit: 10, remaining: 9 });
  });

  it('applies the name reads only to reads, and the shared limit to an empty option', async () => {
    const answer = await tenant.api.post(`${PATH}/reads-only`, {});
    expect(limitsOf(answer)).toEqual({ limit: 2, remaining: 1 });
  });

  it('does not count a route with @SkipThrottle, and sends the headers of the shared window', async () => {
    await tenant.api.get(LEADS);
    for (let i = 0; i < 12; i++) {
      const answer = await get('skipped');
      dataOf(answer);
      expect(limitsOf(answer)).toEqual({ limit: 10, remaining: 9 });
    }
  });

  it('calls functions for the limit and the tracker', async () => {
    const reader = await app.key(tenant.id, ['leads:read']);
    expect(limitsOf(await get('dynamic'))).toEqual({ limit: 5, remaining: 4 });
    expectError(await get('dynamic', reader), 429, 'rate_limit_exceeded');
  });

  it('counts a request without a key against the address alone', async () => {
    const answer = await app.client().get(`${PATH}/by-class`);
    expectError(answer, 401, 'unauthorized');
    expect(limitsOf(answer).limit).toBe(10);
  });

  it('limits a public page by address', async () => {
    const statuses: number[] = [];
    for (let i = 0; i < 3; i++) {
      statuses.push((await fetch(`${app.url}${PATH}/public`)).status);
    }
    expect(statuses).toEqual([200, 200, 429]);
  });
});

describe('@nestjs/throttler', () => {
  it('counts beside Latitude if a module of a team has its own', async () => {
    @Module({
      imports: [ThrottlerModule.forRoot([{ ttl: MINUTE, limit: 1 }])],
      providers: [{ provide: APP_GUARD, useClass: ThrottlerGuard }],
    })
    class OwnThrottlerModule {}
    const app = await TestApp.start({ modules: [OwnThrottlerModule, ThrottledModule] });
    unregisterDocument(app.port);
    try {
      const { api } = await app.organization();
      const first = await api.get(LEADS);
      expect(Number(first.headers.get('ratelimit-limit'))).toBeGreaterThan(1);
      expect(first.headers.get('x-ratelimit-limit')).toBe('1');
      expectEnvelope(await api.get(LEADS), {
        status: 429,
        code: 'too_many_requests',
        retryable: true,
      });
      expect(limitsOf(await api.get(`${PATH}/by-class`))).toEqual({ limit: 2, remaining: 1 });
    } finally {
      await app.stop();
    }
  });

  it('uses the storage that a module provides', async () => {
    class CountingStorage extends MemoryRateLimitStorage {
      counts = 0;
      override count(key: string, ttl: number, limit: number) {
        this.counts++;
        return super.count(key, ttl, limit);
      }
    }
    const storage = new CountingStorage();
    @Module({ providers: [{ provide: ThrottlerStorage, useValue: storage }] })
    class StorageModule {}
    const app = await TestApp.start({ modules: [StorageModule] });
    try {
      await (await app.organization()).api.get(LEADS);
      expect(storage.counts).toBe(1);
    } finally {
      await app.stop();
    }
  });
});
