import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import path from 'node:path';

const PROGRAM = path.join(__dirname, 'identity-provider-process.mjs');

/** An OpenID provider in a process of its own. */
export class IdentityProvider {
  private child: ChildProcess | undefined;

  private constructor(private readonly port: number) {}

  static async start(): Promise<IdentityProvider> {
    const reserved = net.createServer().listen(0, '127.0.0.1');
    await once(reserved, 'listening');
    const { port } = reserved.address() as AddressInfo;
    reserved.close();
    await once(reserved, 'close');
    const provider = new IdentityProvider(port);
    await provider.restart();
    return provider;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Starts it again, with other keys. */
  async restart(): Promise<void> {
    await this.stop();
    this.child = spawn(process.execPath, [PROGRAM, String(this.port)], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await once(this.child.stdout!, 'data');
  }

  async stop(): Promise<void> {
    if (!this.child) return;
    this.child.kill();
    await once(this.child, 'close');
    this.child = undefined;
  }

  /** Signs a token with the key of the provider. */
  async sign(claims: object, header: object = {}): Promise<string> {
    const token = encodeURIComponent(JSON.stringify({ claims, header }));
    return (await fetch(`${this.url}/sign?token=${token}`)).text();
  }
}
