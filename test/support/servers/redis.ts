import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import os from 'node:os';
import { createClient } from '@redis/client';
import { freePort } from './free-port.js';
import { until } from './product.js';

/** Path in Debian's package. */
const REDIS_PATH = '/usr/bin/redis-server';

export const REDIS_SKIP_REASON = existsSync(REDIS_PATH)
  ? undefined
  : 'redis-server is not installed';

/** A Redis without a file, which forgets its data when it is killed. */
export class RedisServer {
  private child: ChildProcess | undefined;

  private constructor(
    private readonly port: number,
    private readonly password: string,
  ) {}

  /** @param password without it, clients need none */
  static async start(password = ''): Promise<RedisServer> {
    const redis = new RedisServer(await freePort(), password);
    await redis.start();
    return redis;
  }

  get url(): string {
    return this.urlWith(this.password);
  }

  /** The URL with another password. */
  urlWith(password: string): string {
    return `redis://${password === '' ? '' : `:${password}@`}127.0.0.1:${this.port}`;
  }

  /** Starts again on the same port. */
  async start(): Promise<void> {
    const options = {
      ...{ bind: '127.0.0.1', port: this.port, save: '', appendonly: 'no' },
      requirepass: this.password,
    };
    const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
    this.child = spawn(REDIS_PATH, args, { stdio: 'ignore', cwd: os.tmpdir() });
    await until(() => this.isAccepting());
  }

  async kill(): Promise<void> {
    const { child } = this;
    this.child = undefined;
    if (child?.kill('SIGKILL')) await once(child, 'exit');
  }

  private async isAccepting(): Promise<boolean> {
    const client = createClient({ url: this.url, socket: { reconnectStrategy: false } });
    client.on('error', () => undefined);
    try {
      await client.connect();
      client.destroy();
      return true;
    } catch {
      return false;
    }
  }
}
