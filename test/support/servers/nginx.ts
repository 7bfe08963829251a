import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { freePort } from './free-port.js';
import { until } from './product.js';
import type { Certificate } from './tls.js';

/** Path in Debian's package. */
const NGINX_PATH = '/usr/sbin/nginx';

export const NGINX_SKIP_REASON = existsSync(NGINX_PATH) ? undefined : 'nginx is not installed';

const FILE = path.resolve(__dirname, '../../../docker/nginx.conf');

const TEMPORARY_PATHS = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];

/** docker/nginx.conf with the addresses of a test, and with its lines for TLS if there is a certificate. */
async function configuration(port: number, instances: readonly number[], tls?: Certificate) {
  const servers = instances.map((each) => `  server 127.0.0.1:${each} max_fails=0;\n`).join('');
  const text = (await readFile(FILE, 'utf8')).replace(/(^ +server \S+:3000 .*\n)+/m, servers);
  if (!tls) return text.replace('listen 8080', `listen 127.0.0.1:${port}`);
  return text
    .replace(/^ +listen 8080;\n/m, '')
    .replace('# listen 443', `listen 127.0.0.1:${port}`)
    .replaceAll('# ssl_', 'ssl_')
    .replace('/etc/nginx/latitude.crt', tls.certificate)
    .replace('/etc/nginx/latitude.key', tls.key);
}

/** nginx in front of instances. */
export class Nginx {
  private constructor(
    private readonly child: ChildProcess,
    private readonly directory: string,
    readonly port: number,
  ) {}

  static async start(instances: readonly number[], tls?: Certificate): Promise<Nginx> {
    const directory = await mkdtemp(path.join(os.tmpdir(), 'latitude-nginx-'));
    const port = await freePort();
    const temporary = TEMPORARY_PATHS.map((name) => `${name}_temp_path ${directory}/${name};`);
    await writeFile(
      path.join(directory, 'latitude.conf'),
      await configuration(port, instances, tls),
    );
    await writeFile(
      path.join(directory, 'nginx.conf'),
      `daemon off; master_process off; pid ${directory}/pid; error_log ${directory}/error.log;
      events {}
      http { access_log off; ${temporary.join(' ')} include ${directory}/latitude.conf; }`,
    );
    const args = [
      '-c',
      path.join(directory, 'nginx.conf'),
      '-e',
      path.join(directory, 'error.log'),
    ];
    const nginx = new Nginx(spawn(NGINX_PATH, args, { stdio: 'ignore' }), directory, port);
    await until(() => isListening(port));
    return nginx;
  }

  async stop(): Promise<void> {
    if (this.child.kill('SIGKILL')) await once(this.child, 'exit');
    await rm(this.directory, { recursive: true });
  }
}

async function isListening(port: number): Promise<boolean> {
  const socket = net.connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
