import { Module } from '@nestjs/common';
import type { Command } from 'commander';
import { commandLine } from '../../../../src/ops/cli/command-line.js';
import { VERSION } from '../../../../src/platform/config/version.js';
import { MIGRATION_NAMES } from '../../../../src/platform/data/executed-migrations.js';
import { defineConfig } from '../../../../src/platform/extension/config.js';
import type { AddCommands } from '../../../../src/platform/extension/command.js';
import { defineExtension } from '../../../../src/platform/extension/extension.js';
import { ApiClient } from '../../../../src/testing/api-client.js';
import { latitude as runJson, runCommand } from '../../../support/command-line.js';
import {
  type CommandResult,
  Product,
  type RunningServer,
  until,
} from '../../../support/servers/product.js';

type Latitude = <T = unknown>(...args: string[]) => Promise<T>;

describe('the command line', () => {
  const product = new Product();
  afterAll(() => product.remove());

  /** Runs a command without a process of its own. */
  const run = (args: string[]) => runCommand(args, product.environment);
  const latitude: Latitude = (...args) => runJson(product.environment, ...args);

  const itWorks = (latitude: Latitude) => {
    it('lists the migrations that have run', async () => {
      expect(await latitude('migrate')).toEqual({ migrations: MIGRATION_NAMES });
    });

    it('creates and lists organizations', async () => {
      const made = await latitude('organizations', 'create', '--name', 'Acme');
      expect(made).toEqual({
        id: expect.any(String),
        name: 'Acme',
        phone_region: 'US',
        time_zone: 'UTC',
      });
      const all = await latitude<{ id: string }[]>('organizations', 'list');
      expect(all).toContainEqual(expect.objectContaining(made as object));
    });
  };

  describe('without a server, in a separate process', () => {
    itWorks((...args) => product.latitude(...args));
  });

  describe('while a server runs', () => {
    let server: RunningServer;
    beforeAll(async () => {
      server = await product.start();
    });
    afterAll(() => server.stop());

    itWorks(latitude);

    it('changes the phone region of an organization, and lists the conflicts', async () => {
      const made = await latitude<{ id: string }>(
        ...['organizations', 'create', '--name', 'Regions', '--phone-region', 'gb'],
      );
      const regions = { id: made.id, name: 'Regions', phone_region: 'GB', time_zone: 'UTC' };
      expect(made).toEqual(regions);
      const changed = await latitude(
        ...['organizations', 'update', made.id, '--phone-region', 'DE'],
      );
      expect(changed).toEqual({
        ...regions,
        phone_region: 'DE',
        unknown_fields: 'allow',
        suspended: false,
        conflicts: 0,
      });
      const conflicts = await latitude('leads', 'conflicts', '--organization', made.id);
      expect(conflicts).toEqual([]);
    });

    it('changes the time zone of an organization, and refuses an unknown one and no change', async () => {
      const zone = ['--time-zone', 'europe/berlin'];
      const made = await latitude<{ id: string }>(
        ...['organizations', 'create', '--name', 'Zones', ...zone],
      );
      expect(made).toMatchObject({ time_zone: 'Europe/Berlin' });
      const changed = await latitude(
        ...['organizations', 'update', made.id, '--time-zone', 'Asia/Kolkata'],
      );
      const others = { unknown_fields: 'allow', suspended: false };
      expect(changed).toEqual({ ...made, time_zone: 'Asia/Kolkata', ...others });
      const refused = await run(['organizations', 'update', made.id, '--time-zone', 'Mars/Base']);
      expect(refused.stderr).toContain('must be the name of a time zone');
      const empty = await run(['organizations', 'update', made.id]);
      expect(empty).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('name what to change'),
      });
    });

    it('renames, suspends and resumes an organization, and replaces its first key', async () => {
      const made = await latitude<{ id: string }>('organizations', 'create', '--name', 'Before');
      const key = await latitude<{ id: string; key: string }>(
        ...['keys', 'create', '--organization', made.id, '--name', 'First', '--scopes', 'all'],
      );
      const update = ['organizations', 'update', made.id];
      const changed = await latitude(...update, '--name', 'After', '--suspend');
      const others = { unknown_fields: 'allow', suspended: true };
      expect(changed).toEqual({ ...made, name: 'After', ...others });
      const replaced = await latitude<{ id: string; key: string }>(
        ...['keys', 'replace-first', '--organization', made.id],
      );
      expect(replaced).toMatchObject({ name: 'First', organization_id: made.id });
      expect(replaced.key).not.toBe(key.key);
      expect(await latitude(...update, '--resume')).toMatchObject({ suspended: false });
      const both = await run([...update, '--suspend', '--resume']);
      expect(both).toMatchObject({ code: 1, stderr: expect.stringContaining('cannot be used') });
    });

    it('creates, lists, rotates and revokes keys', async () => {
      const { id: organization } = await latitude<{ id: string }>(
        'organizations',
        'create',
        '--name',
        'Keys',
      );
      const key = await latitude<{ id: string; key: string }>(
        ...['keys', 'create', '--organization', organization, '--name', 'n8n'],
        ...['--scopes', 'leads:read', '--expires-in', '90d', '--reads-per-minute', '600'],
      );
      expect(key).toEqual({
        id: expect.any(String),
        organization_id: organization,
        name: 'n8n',
        scopes: ['leads:read'],
        expires_at: expect.stringMatching(/^\d{4}-.*Z$/),
        key: expect.stringMatching(/^lat_[0-9A-Za-z]{36}$/),
      });
      const updated = await latitude<object>(
        ...['keys', 'update', key.id, '--writes-per-minute', '300'],
      );
      expect(updated).toMatchObject({ reads_per_minute: 600, writes_per_minute: 300 });
      expect(await latitude('keys', 'update', key.id, '--reads-per-minute', 'default')).toEqual({
        ...updated,
        reads_per_minute: null,
      });
      const rotated = await latitude<{ id: string }>(
        ...['keys', 'rotate', key.id, '--overlap', '24h'],
      );
      expect(rotated).toMatchObject({
        replaces: key.id,
        old_expires_at: expect.any(String),
        scopes: ['leads:read'],
      });
      const revoked = await latitude('keys', 'revoke', key.id);
      expect(revoked).toEqual({ id: key.id, revoked_at: expect.any(String) });
      const listed = await latitude<object[]>('keys', 'list', '--organization', organization);
      expect(listed).toHaveLength(2);
      for (const each of listed) expect(each).toMatchObject({ writes_per_minute: 300 });
      expect(JSON.stringify(listed)).not.toContain(key.key);
    });

    it('creates keys for the console, and prints the links', async () => {
      const { id } = await latitude<{ id: string }>('organizations', 'create', '--name', 'People');
      const link = async (...options: string[]) => {
        const made = await latitude<{ id: string; url: string }>(
          ...['console', '--organization', id, ...options],
        );
        return made.url.replace(/lat_[0-9A-Za-z]{36}$/, 'KEY');
      };
      const url = 'https://crm.example/latitude';
      expect(await link('--url', `${url}/`, '--expires-in', '1d')).toBe(`${url}/console#key=KEY`);
      expect((await run(['console', '--organization', id])).stderr).toContain('--url');
      const [key, ...others] = await latitude<object[]>('keys', 'list', '--organization', id);
      expect(others).toEqual([]);
      expect(key).toMatchObject({
        ...{ name: 'console', reads_per_minute: 600, writes_per_minute: 300 },
        expires_at: expect.any(String),
        scopes: expect.not.arrayContaining(['leads:erase']),
      });
    });

    it('creates sample data, and purges deleted records', async () => {
      const demo = await latitude<{ key: string }>('demo', '--leads', '7');
      expect(demo).toEqual({
        organization_id: expect.any(String),
        key: expect.stringMatching(/^lat_[0-9A-Za-z]{36}$/),
        ...{ leads: 7, appointments: 4, tasks: 3, resources: 3 },
      });
      const api = new ApiClient(server.url, demo.key);
      const { body } = await api.get('/api/v1/appointments');
      expect(body.meta.total).toBe(4);
      await api.delete(`/api/v1/leads/${body.data[0].lead_id}`);

      const nothing = await latitude('purge', '--older-than', '30d');
      expect(nothing).toMatchObject({ leads: 0, appointments: 0, tasks: 0 });
      await until(async () => {
        const removed = await latitude<{ leads: number }>('purge', '--older-than', '1s');
        if (removed.leads === 0) return false;
        expect(removed).toMatchObject({ leads: 1, appointments: 1, tasks: 0 });
        return true;
      });
    });

    it('deletes an organization and all its data after confirmation', async () => {
      const { organization_id: id, key } = await latitude<Record<string, string>>(
        ...['demo', '--leads', '6'],
      );
      const api = new ApiClient(server.url, key);
      const contents = { id, name: 'Demo', keys: 1 };
      const records = { leads: 6, appointments: 3, tasks: 2 };

      const asked = await run(['--json', 'organizations', 'delete', id!]);
      expect(asked.code).toBe(1);
      expect(JSON.parse(asked.stdout)).toMatchObject({ ...contents, records, deleted: false });
      expect(asked.stderr).toContain('--yes');
      expect((await api.get('/api/v1/leads')).status).toBe(200);

      const done = await latitude('organizations', 'delete', id!, '--yes');
      expect(done).toMatchObject({ ...contents, records, deleted: true });
      expect((await api.get('/api/v1/leads')).status).toBe(401);
      const all = await latitude<{ id: string }[]>('organizations', 'list');
      expect(all.map((organization) => organization.id)).not.toContain(id);
    });

    it('checks and repairs counters', async () => {
      const { organization_id, key } = await latitude<Record<string, string>>(
        ...['demo', '--leads', '3'],
      );
      await product.sql(`update record_counts set records = records + 2
        where organization_id = '${organization_id}' and resource = 'leads' and filter = ''`);
      const wrong = [
        { organization_id, resource: 'leads', filter: '', value: '', counted: 5, actual: 3 },
      ];

      const check = await run(['--json', 'counters', 'check']);
      expect(check.code).toBe(1);
      expect(JSON.parse(check.stdout)).toMatchObject({ wrong });
      expect(await latitude('counters', 'repair')).toMatchObject({ repaired: wrong });
      expect(await latitude('counters', 'check')).toMatchObject({ wrong: [] });
      const { body } = await new ApiClient(server.url, key).get('/api/v1/leads');
      expect(body.meta.total).toBe(3);
    });

    it('prints lists as complete lines, which name their columns, if standard output is not a terminal', async () => {
      const { id } = await latitude<{ id: string }>('organizations', 'create', '--name', 'a\\tb');
      const none = await run(['keys', 'list', '--organization', id]);
      expect(none).toMatchObject({ code: 0, stdout: '' });

      const options = ['--organization', id, '--name', 'n', '--scopes', 'all'];
      const { key } = await latitude<{ key: string }>('keys', 'create', ...options);
      const keys = await latitude<object[]>('keys', 'list', '--organization', id);
      const [names, line, ...rest] = await linesOf(['keys', 'list', '--organization', id]);
      expect(names).toEqual(Object.keys(keys[0]!));
      expect(line).toHaveLength(names!.length);
      expect(rest).toEqual([]);

      const api = new ApiClient(server.url, key);
      const { body } = await api.post('/api/v1/leads', {
        first_name: 'Ada',
        notes: 'x'.repeat(500),
      });
      const [columns, event] = await linesOf(['events', '--record', body.data.id]);
      const values = Object.fromEntries(columns!.map((name, n) => [name, event![n]!]));
      expect(JSON.parse(values.record!)).toMatchObject({ notes: 'x'.repeat(500) });
      expect(JSON.parse(values.actor!)).toHaveProperty('key_id');
    });

    it('accepts --json after a command', async () => {
      const { stdout } = await run(['organizations', 'list', '--json']);
      expect(JSON.parse(stdout)).toEqual(await latitude('organizations', 'list'));
    });

    async function linesOf(args: string[]): Promise<string[][]> {
      const { stdout } = await run(args);
      const lines = stdout.split('\n').slice(0, -1);
      return lines.map((line) => line.split('\t'));
    }

    it.each([
      [['keys', 'create'], '--organization'],
      [['--json', 'backup', '-'], '--json'],
      [
        [
          ...['keys', 'create', '--organization', '00000000-0000-4000-8000-000000000000'],
          ...['--name', 'n', '--scopes', 'all', '--expires-in', '999999999d'],
        ],
        "option '--expires-in <duration>' argument '999999999d' is invalid. It must be at most 36500d.",
      ],
      [['purge'], '--older-than'],
      [['demo', '--leads', '0'], '1 to 1000000'],
      [['keys', 'revoke', 'x'], 'UUID'],
      [['console', '--organization', '00000000-0000-4000-8000-000000000000', '--url', 'x'], 'URL'],
      [['keys', 'update', '00000000-0000-4000-8000-000000000000'], 'name what to change'],
      [
        ['keys', 'update', '00000000-0000-4000-8000-000000000000', '--reads-per-minute', '0'],
        'from 1 to',
      ],
      [
        [
          ...['keys', 'create', '--organization', '00000000-0000-4000-8000-000000000000'],
          ...['--name', 'n', '--scopes', 'all', '--writes-per-minute', '3001'],
        ],
        'must be at most 3000',
      ],
      [['keys', 'revoke', '00000000-0000-4000-8000-000000000000'], 'no such key'],
      [['organizations', 'create', '--name', ' '], 'name'],
      [['organizations', 'delete', 'x', '--yes'], 'UUID'],
      [
        ['organizations', 'delete', '00000000-0000-4000-8000-000000000000', '--yes'],
        'no such organization',
      ],
      [['nonsense'], 'nonsense'],
    ])('rejects %j with one line and a non-zero exit code', async (args, hint) => {
      expectRejected(await run(args), hint);
    });
  });

  it('has --json in the help of every command, and 1,000 leads as the default of demo', () => {
    const commands = leavesOf(commandLine(defineConfig()));
    expect(commands.length).toBeGreaterThan(20);
    for (const command of commands) expect(command.helpInformation()).toContain('--json');
    const demo = commands.find((command) => command.name() === 'demo');
    expect(demo?.opts()).toEqual({ leads: 1_000 });
  });

  it('prints its version', async () => {
    expect(await run(['--version'])).toEqual({ code: 0, stdout: `${VERSION}\n`, stderr: '' });
  });

  it('prints null for a command of an extension without a result, with --json', async () => {
    const silent: AddCommands = (program, run) => {
      program.command('silent').action(() => run(() => Promise.resolve(undefined)));
    };
    @Module({})
    class SilentModule {}
    const extension = defineExtension({ name: 'acme', module: SilentModule, commands: [silent] });
    const config = defineConfig({ extensions: [extension] });
    const { stdout } = await runCommand(['silent', '--json'], product.environment, config);
    expect(JSON.parse(stdout)).toBeNull();
  });

  it.each([
    [['nonsense'], 'nonsense'],
    [['keys', 'revoke', '00000000-0000-4000-8000-000000000000'], 'no such key'],
  ])('in a process of its own, rejects %j in the same way', async (args, hint) => {
    expectRejected(await product.run('cli.js', args), hint);
  });
});

function leavesOf(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);
}

function expectRejected({ code, stdout, stderr }: CommandResult, hint: string): void {
  expect(code).not.toBe(0);
  expect(stdout).toBe('');
  expect(stderr.trim().split('\n')).toHaveLength(1);
  expect(stderr).toContain(hint);
}
