import { Controller, Injectable, Module, Post } from '@nestjs/common';
import { Counter } from 'prom-client';
import { AnyKey } from '../../../../src/platform/http/routes/access.js';
import { MetricsRegistry } from '../../../../src/platform/metrics-registry.js';
import { TestApp } from '../../../../src/testing/test-app.js';

@Injectable()
class MessageMetrics {
  readonly sent: Counter;

  constructor(registry: MetricsRegistry) {
    this.sent = new Counter({
      name: 'acme_messages_sent_total',
      help: 'Sent messages.',
      registers: [registry],
    });
  }
}

@Controller('api/v1/greetings')
class GreetingsController {
  constructor(private readonly metrics: MessageMetrics) {}

  @Post()
  @AnyKey()
  greet() {
    this.metrics.sent.inc();
    return { greeted: true };
  }
}

@Module({ controllers: [GreetingsController], providers: [MessageMetrics] })
class GreetingsModule {}

@Module({ providers: [MessageMetrics] })
class RivalModule {}

@Injectable()
class TakenMetrics {
  constructor(registry: MetricsRegistry) {
    const name = 'latitude_build_info';
    new Counter({ name, help: 'Taken.', registers: [registry] });
  }
}

@Module({ providers: [TakenMetrics] })
class TakenModule {}

let app: TestApp;
beforeAll(async () => {
  app = await TestApp.start({ modules: [GreetingsModule] });
});
afterAll(() => app.stop());

async function greet(server: TestApp): Promise<void> {
  const { api } = await server.organization();
  expect((await api.post('/api/v1/greetings', {})).status).toBe(201);
}

describe('a metric of a module', () => {
  it('is part of /metrics', async () => {
    await greet(app);
    const response = await fetch(`${app.url}/metrics`);
    expect(await response.text()).toContain('\nacme_messages_sent_total 1\n');
  });

  it('counts with METRICS=off, and is not served', async () => {
    const env = { METRICS: 'off' };
    const other = await TestApp.start({ env, modules: [GreetingsModule], database: app.database });
    await greet(other);
    expect(await other.app.get(MetricsRegistry).metrics()).toContain('acme_messages_sent_total 1');
    expect((await fetch(`${other.url}/metrics`)).status).toBe(404);
    await other.stop();
  });
});

it.each([
  ['another metric of a team', [GreetingsModule, RivalModule], 'acme_messages_sent_total'],
  ['a metric of Latitude', [TakenModule], 'latitude_build_info'],
])('startup fails if a metric has the name of %s', async (_, modules, name) => {
  await expect(TestApp.start({ modules, database: app.database })).rejects.toThrow(
    `Two metrics have the name ${name}: begin the names of metrics with that of the extension.`,
  );
});
