import { Injectable, Module, type Type } from '@nestjs/common';
import { defineExtension, type Extension } from '../../../../src/platform/extension/extension.js';
import {
  HealthIndicator,
  type HealthResult,
} from '../../../../src/platform/http/health/health-indicator.js';
import { TestApp } from '../../../../src/testing/test-app.js';

const READY = '/health/ready';

@Module({})
class EmptyModule {}

function extensionWith(...indicators: Type<HealthIndicator>[]): Extension {
  const adds = indicators.map((useClass) => ({ provide: HealthIndicator, useClass }));
  return defineExtension({ name: 'acme-health', module: EmptyModule, adds });
}

@Injectable()
class ProviderIndicator extends HealthIndicator {
  readonly name = 'sms_provider';
  override readonly critical = false;
  checks = 0;

  check(): Promise<HealthResult> {
    this.checks++;
    return Promise.resolve({ status: 'down', detail: 'The provider answers 503.' });
  }
}

@Injectable()
class SlowIndicator extends HealthIndicator {
  readonly name = 'slow';
  override readonly timeoutMs = 20;
  aborted = false;

  check(signal: AbortSignal): Promise<HealthResult> {
    signal.addEventListener('abort', () => (this.aborted = true));
    return new Promise<HealthResult>(() => undefined);
  }
}

@Injectable()
class FailingIndicator extends HealthIndicator {
  readonly name = 'failing';

  check(): Promise<HealthResult> {
    return Promise.reject(new Error('connect ECONNREFUSED 10.0.0.7'));
  }
}

let app: TestApp;
beforeAll(async () => {
  app = await TestApp.start({ extensions: [extensionWith(ProviderIndicator)] });
});
afterAll(() => app.stop());

const indicatorsOf = ({ app: nest }: TestApp) =>
  nest.get<HealthIndicator[]>(HealthIndicator, { strict: false });

async function withIndicators(
  indicators: Type<HealthIndicator>[],
  work: (other: TestApp) => Promise<void>,
) {
  const extensions = [extensionWith(...indicators)];
  const other = await TestApp.start({ extensions, database: app.database });
  try {
    await work(other);
  } finally {
    await other.stop();
  }
}

describe('GET /health/ready', () => {
  it('answers 200 with the result of an indicator that is down but not critical', async () => {
    const { status, body } = await app.client().get(READY);
    expect(status).toBe(200);
    expect(body).toEqual({
      status: 'ok',
      checks: { sms_provider: { status: 'down', detail: 'The provider answers 503.' } },
    });
  });

  it('runs the checks at most once a second', async () => {
    await Promise.all(Array.from({ length: 10 }, () => app.client().get(READY)));
    const [indicator] = indicatorsOf(app) as [ProviderIndicator];
    const before = indicator.checks;
    await app.client().get(READY);
    expect(indicator.checks - before).toBeLessThanOrEqual(1);
    expect(before).toBeLessThan(10);
  });

  it('answers 503 after the time limit of a critical indicator, and aborts its signal', async () => {
    await withIndicators([SlowIndicator, ProviderIndicator], async (other) => {
      const { status, body } = await other.client().get(READY);
      expect(status).toBe(503);
      const detail = 'The check did not end in 20 ms.';
      expect(body).toMatchObject({ status: 'unavailable', reason: 'slow', detail });
      expect(body).toMatchObject({ checks: { sms_provider: { status: 'down' } } });
      expect((indicatorsOf(other)[0] as SlowIndicator).aborted).toBe(true);
    });
  });

  it('answers 503 without the message of an exception', async () => {
    await withIndicators([FailingIndicator], async (other) => {
      const { status, body } = await other.client().get(READY);
      expect(status).toBe(503);
      expect(body).toEqual({
        status: 'unavailable',
        reason: 'failing',
        detail: 'The check failed.',
        checks: { failing: { status: 'down', detail: 'The check failed.' } },
      });
    });
  });
});

describe('startup', () => {
  it('fails if two health indicators have the same name', async () => {
    const start = withIndicators([SlowIndicator, SlowIndicator], () => Promise.resolve());
    await expect(start).rejects.toThrow('The health indicator slow needs a name in snake_case');
  });
});
