import {
  type BeforeApplicationShutdown,
  Injectable,
  Module,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { closeApp } from '../../../../src/ops/server/run-server.js';
import { TestApp } from '../../../../src/testing/test-app.js';

const received: unknown[] = [];

@Injectable()
class Connection implements BeforeApplicationShutdown, OnApplicationShutdown {
  beforeApplicationShutdown(signal?: string): void {
    received.push(['before', signal]);
  }

  onApplicationShutdown(signal?: string): void {
    received.push(['after', signal]);
  }
}

@Module({ providers: [Connection] })
class ConnectionModule {}

it('the hooks of a stop receive the signal', async () => {
  const app = await TestApp.start({ modules: [ConnectionModule] });
  await closeApp(app.app, 'SIGTERM');
  expect(received).toEqual([
    ['before', 'SIGTERM'],
    ['after', 'SIGTERM'],
  ]);
  await app.stop();
});
