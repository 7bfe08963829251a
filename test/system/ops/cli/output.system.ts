import { execFile, spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import path from 'node:path';
import { createOrganization, latitude } from '../../../support/command-line.js';
import { type CommandResult, Product } from '../../../support/servers/product.js';

const DIST = path.resolve(__dirname, '../../../../dist/src');
const CLI = path.join(DIST, 'cli.js');

/** A device on which every write fails, and a pipe that nothing reads. */
const FULL = '> /dev/full';
const CLOSED = '| true';

describe('a command that cannot write to standard output', () => {
  const product = new Product();
  let organization: string;

  beforeAll(async () => {
    ({ id: organization } = await createOrganization(product.environment));
  });
  afterAll(() => product.remove());

  /** Runs a command in a shell. The exit code is that of the command. */
  function run(command: string, redirection: string): Promise<CommandResult> {
    const script = `"$NODE" "$CLI" ${command} ${redirection}; exit \${PIPESTATUS[0]}`;
    const env = { ...product.environment, PATH: process.env.PATH, NODE: process.execPath, CLI };
    return new Promise((resolve) => {
      execFile('bash', ['--norc', '-c', script], { env }, (error, stdout, stderr) => {
        resolve({ code: error ? Number(error.code) : 0, stdout, stderr });
      });
    });
  }

  function expectOneLine({ code, stderr }: CommandResult): void {
    expect(stderr).toMatch(/^latitude: Standard output cannot be written: .*\n$/);
    expect(code).toBe(1);
  }

  it.each([
    ['openapi', FULL],
    ['openapi', CLOSED],
    ['openapi --help', FULL],
    ['organizations list', FULL],
    ['--json organizations list', FULL],
    ['backup -', FULL],
    ['backup -', CLOSED],
  ])('%s %s prints one line and exits with 1', async (command, redirection) => {
    expectOneLine(await run(command, redirection));
  });

  it('says how to revoke the key that it created', async () => {
    const options = `--organization ${organization} --name lost --scopes all`;
    const created = await run(`keys create ${options}`, FULL);
    expectOneLine(created);
    const [, id] = /latitude keys revoke (\S+)"/.exec(created.stderr) ?? [];
    const keys = await listKeys();
    expect(keys.filter(({ name }) => name === 'lost')).toMatchObject([{ id }]);

    const rotated = await run(`keys rotate ${id}`, FULL);
    expectOneLine(rotated);
    const [, successor] = /latitude keys revoke (\S+)"/.exec(rotated.stderr) ?? [];
    expect(successor).not.toBe(id);
    expect(await listKeys()).toContainEqual(expect.objectContaining({ id: successor }));
  });

  it('removes sample data', async () => {
    expectOneLine(await run('demo --leads 1', FULL));
    const organizations = await latitude(product.environment, 'organizations', 'list');
    expect(organizations).toMatchObject([{ id: organization }]);
  });

  function listKeys() {
    return latitude<{ id: string; name: string }[]>(
      product.environment,
      ...['keys', 'list', '--organization', organization],
    );
  }
});

describe('a server whose log cannot be written', () => {
  it('says so once on standard error, and continues', () => {
    const full = openSync('/dev/full', 'w');
    const program = `
      import { flushLog, logger } from '${DIST}/platform/config/logger.js';
      for (const line of ['one', 'two']) {
        logger.info(line);
        flushLog();
      }
      console.error('still running');`;
    const args = ['--input-type=module', '--eval', program];
    const { status, stderr } = spawnSync(process.execPath, args, {
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
    });
    closeSync(full);
    expect(stderr).toBe(
      'latitude: lines of the log are lost: ENOSPC: no space left on device, write\nstill running\n',
    );
    expect(status).toBe(0);
  });
});
