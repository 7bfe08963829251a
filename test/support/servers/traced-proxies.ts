import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { freePort } from './free-port.js';
import { until } from './product.js';

const PAGE = path.resolve(__dirname, '../../../docs/operating/tracing.md');

/** The programs of Debian's packages. */
export const PROXY_PATHS = ['/usr/sbin/nginx', '/usr/sbin/haproxy'];

/** A proxy that gives requests a trace, as docs/operating/tracing.md says. */
export class TracedProxy {
  private output = '';
  private readonly file = `${this.folder}/latitude.log`;

  private constructor(
    readonly url: string,
    private readonly process: ChildProcess,
    private readonly folder: string,
  ) {
    process.stdout?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
  }

  static nginx(upstreamPort: number): Promise<TracedProxy> {
    return TracedProxy.start('nginx', ([http = '', location = ''], port, folder) => [
      ...['-c', `${folder}/configuration`, '-p', folder],
      `daemon off; pid ${folder}/pid; events {}
      http {
        ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
        ${http}
        server {
          listen 127.0.0.1:${port};
          location / {
            proxy_pass http://127.0.0.1:${upstreamPort};
            ${location.replace('/var/log/nginx', folder)}
          }
        }
      }`,
    ]);
  }

  static haproxy(upstreamPort: number): Promise<TracedProxy> {
    return TracedProxy.start('haproxy', ([frontend = ''], port, folder) => [
      ...['-f', `${folder}/configuration`],
      `global
  log stdout format raw local0
defaults
  mode http
  log global
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend latitude
  bind 127.0.0.1:${port}
  default_backend instances
${frontend}
backend instances
  server one 127.0.0.1:${upstreamPort}
`,
    ]);
  }

  private static async start(
    language: 'nginx' | 'haproxy',
    configure: (blocks: string[], port: number, folder: string) => string[],
  ): Promise<TracedProxy> {
    const folder = mkdtempSync(path.join(os.tmpdir(), `latitude-${language}-`));
    const port = await freePort();
    const text = readFileSync(PAGE, 'utf8');
    const blocks = Array.from(text.matchAll(/```(\w+)\n([^]*?)```/g))
      .filter(([, of]) => of === language)
      .map(([, , block = '']) => block);
    const args = configure(blocks, port, folder);
    writeFileSync(`${folder}/configuration`, args.pop() ?? '');
    const child = spawn(`/usr/sbin/${language}`, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    await until(() => accepts(port));
    return new TracedProxy(`http://127.0.0.1:${port}`, child, folder);
  }

  /** The trace of the last request in its log. */
  async lastTrace(): Promise<string> {
    const log = () => (existsSync(this.file) ? readFileSync(this.file, 'utf8') : this.output);
    const found = () => log().match(/(?<=trace_id=)\w{32}(?=\n)/g) ?? [];
    await until(() => Promise.resolve(found().length > 0));
    return found().at(-1) ?? '';
  }

  async stop(): Promise<void> {
    this.process.kill();
    await once(this.process, 'exit');
    rmSync(this.folder, { recursive: true });
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => {
      resolve(false);
    });
  });
}
