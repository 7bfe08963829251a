// Runs the services of docker/compose.yaml as processes of this machine, with their commands, settings, secrets, health
// checks and order. The address of each is 127.0.0.1 with a port of its own, in place of its name.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { promisify } from 'node:util';
import { HAPROXY_PATH, instancesConfiguration } from '../../test/support/servers/haproxy.mjs';
import { ROOT } from '../server.mjs';
import { INSTANCES } from './compose.mjs';
import { createCluster, initializeDatabase, serverCommand } from './postgres.mjs';

/** The ports on which containers listen. */
const PORTS = {
  postgres: 5432,
  redis: 6379,
  'latitude-1': 3000,
  'latitude-2': 3000,
  haproxy: 8080,
};

/** The signals on which servers that have child processes end them. */
const STOP_AT_ONCE = { postgres: 'SIGQUIT', haproxy: 'SIGTERM', redis: 'SIGTERM' };

const { PATH } = process.env;

export class Topology {
  ports = {};
  processes = new Map();
  directory = mkdtempSync(path.join(os.tmpdir(), 'latitude-compose-'));

  constructor({ services }) {
    this.services = services;
  }

  /** Creates the files that the services read. */
  async prepare() {
    for (const name of Object.keys(PORTS)) this.ports[name] = await freePort();
    const secrets = this.file('secrets');
    execFileSync(path.join(ROOT, 'docker/make-secrets'), [secrets], { stdio: 'ignore' });
    execFileSync('chmod', ['755', this.directory, secrets]);
    for (const name of readdirSync(secrets)) {
      const file = path.join(secrets, name);
      writeFileSync(file, this.placed(readFileSync(file, 'utf8')));
    }
    const instances = INSTANCES.map((name) => this.ports[name]);
    writeFileSync(this.file('haproxy.cfg'), instancesConfiguration(this.ports.haproxy, instances));
    const { POSTGRES_PASSWORD_FILE, POSTGRES_INITDB_ARGS } = this.services.postgres.environment;
    await createCluster(
      this.file('cluster'),
      this.placed(POSTGRES_PASSWORD_FILE),
      POSTGRES_INITDB_ARGS,
    );
  }

  /** Starts a service after those that it depends on, and waits until it is healthy or has completed. */
  async start(name) {
    if (this.processes.get(name)?.exitCode === null) return;
    const { depends_on = {}, restart } = this.services[name];
    for (const other of Object.keys(depends_on)) {
      if (!this.processes.has(other)) await this.start(other);
    }
    const [program, ...args] = this.commandOf(name);
    const env = { PATH, ...this.environmentOf(name) };
    const log = openSync(this.file(`${name}.log`), 'a');
    const child = spawn(program, args, { env, cwd: '/', stdio: ['ignore', log, log] });
    this.processes.set(name, child);
    if (restart === 'no') {
      const [code] = await once(child, 'exit');
      if (code !== 0) throw new Error(`${name} ended with ${code}: ${this.logOf(name)}`);
      return;
    }
    await this.untilHealthy(name);
    if (name !== 'postgres') return;
    const { POSTGRES_DB, POSTGRES_PASSWORD_FILE } = this.services.postgres.environment;
    const passwordFile = this.placed(POSTGRES_PASSWORD_FILE);
    await initializeDatabase(this.file('cluster'), this.ports.postgres, POSTGRES_DB, passwordFile);
  }

  /** Stops a service as Compose does. @returns the exit code */
  async stop(name) {
    const child = this.processes.get(name);
    const grace = parseInt(this.services[name].stop_grace_period, 10) * 1_000;
    const timer = setTimeout(() => child.kill('SIGKILL'), grace);
    child.kill('SIGTERM');
    const [code] = await once(child, 'exit');
    clearTimeout(timer);
    return code;
  }

  /** Runs a command of the command line in a service. */
  latitude(name, ...args) {
    const env = { PATH, ...this.environmentOf(name) };
    return JSON.parse(execFileSync(process.execPath, [CLI, '--json', ...args], { env }));
  }

  /** Ends what runs, without waiting for requests. */
  async remove() {
    for (const [name, child] of this.processes) {
      if (child.exitCode !== null) continue;
      const ended = once(child, 'exit');
      child.kill(INSTANCES.includes(name) ? 'SIGKILL' : STOP_AT_ONCE[name]);
      await ended;
    }
    rmSync(this.directory, { recursive: true });
  }

  logOf(name) {
    return readFileSync(this.file(`${name}.log`), 'utf8');
  }

  get url() {
    return `http://127.0.0.1:${this.ports.haproxy}`;
  }

  commandOf(name) {
    const command = this.services[name].command?.map((word) => this.placed(word));
    const port = String(this.ports[name]);
    if (name === 'haproxy')
      return [HAPROXY_PATH, '-W', '-db', '-q', '-f', this.file('haproxy.cfg')];
    if (name === 'postgres') return serverCommand(command, this.file('cluster'), port);
    if (name === 'redis') return [...command, '--port', port];
    return command === undefined
      ? [process.execPath, MAIN]
      : [process.execPath, CLI, ...command.slice(1)];
  }

  environmentOf(name) {
    const { environment = {} } = this.services[name];
    const values = Object.entries(environment).map(([key, value]) => [key, this.placed(value)]);
    return { NODE_ENV: 'production', PORT: this.ports[name], ...Object.fromEntries(values) };
  }

  async untilHealthy(name) {
    const deadline = Date.now() + 60_000;
    while (!(await this.isHealthy(name))) {
      const isOver = this.processes.get(name).exitCode !== null || Date.now() > deadline;
      if (isOver) throw new Error(`${name} does not become healthy: ${this.logOf(name)}`);
      await after(200);
    }
  }

  /** Runs the health check of a service; that of the instances is in the image. */
  isHealthy(name) {
    const port = this.ports[name];
    if (INSTANCES.includes(name)) return isOk(`http://127.0.0.1:${port}/health/ready`);
    const [kind, ...test] = this.services[name].healthcheck.test;
    const words = test.map((word) =>
      word.replace(`/${PORTS[name]}`, `/${port}`).replace('redis-cli', `redis-cli -p ${port}`),
    );
    const [program, ...args] = kind === 'CMD' ? words : ['sh', '-c', ...words];
    const env = { PATH, PGPORT: String(port) };
    return promisify(execFile)(program, args, { env }).then(
      () => true,
      () => false,
    );
  }

  /** Replaces the names of services and the folder of secrets by those of this machine. */
  placed(text) {
    const places = Object.entries(PORTS).map(([name, port]) => [
      `${name}:${port}`,
      `127.0.0.1:${this.ports[name]}`,
    ]);
    return [...places, ['/run/secrets', this.file('secrets')]].reduce(
      (replaced, [from, to]) => replaced.replaceAll(from, to),
      text,
    );
  }

  file(...names) {
    return path.join(this.directory, ...names);
  }
}

const [MAIN, CLI] = ['main.js', 'cli.js'].map((name) => path.join(ROOT, 'dist/src', name));

export async function isOk(url, options) {
  const response = await fetch(url, options).catch(() => undefined);
  await response?.arrayBuffer();
  return response?.ok === true;
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}
