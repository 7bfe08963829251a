import fs from 'node:fs';
import { runCommandLine } from '../../src/ops/cli/command-line.js';
import { defineConfig, type LatitudeConfig } from '../../src/platform/extension/config.js';
import { type CommandResult, resultOf } from './servers/product.js';

const STANDARD_OUTPUT = 1;

/**
 * Runs a command in the process of the test, which takes much less time than a process of its own.
 * @param env environment variables during the command
 */
export async function runCommand(
  args: readonly string[],
  env: Record<string, string>,
  config: LatitudeConfig = defineConfig(),
): Promise<CommandResult> {
  const written = { stdout: '', stderr: '' };
  const record = (stream: keyof typeof written): typeof process.stdout.write => {
    return (chunk: string | Uint8Array, ...rest: unknown[]) => {
      written[stream] += String(chunk);
      const done = rest.at(-1);
      if (typeof done === 'function') (done as () => void)();
      return true;
    };
  };
  const writeSync = fs.writeSync.bind(fs) as (fd: number, ...rest: unknown[]) => number;
  const environment = jest.replaceProperty(process, 'env', { ...process.env, ...env });
  const spies: Pick<jest.SpyInstance, 'mockRestore'>[] = [
    jest.spyOn(console, 'error').mockImplementation((text) => record('stderr')(`${text}\n`)),
    jest.spyOn(process.stdout, 'write').mockImplementation(record('stdout')),
    jest.spyOn(fs, 'writeSync').mockImplementation((fd: number, ...rest: unknown[]) => {
      if (fd !== STANDARD_OUTPUT) return writeSync(fd, ...rest);
      written.stdout += String(rest[0]);
      return Buffer.byteLength(String(rest[0]));
    }),
    jest.spyOn(process.stderr, 'write').mockImplementation(record('stderr')),
  ];
  try {
    const code = await runCommandLine(config, args);
    return { code, ...written };
  } finally {
    process.exitCode = undefined;
    environment.restore();
    for (const spy of spies) spy.mockRestore();
  }
}

/** Runs a command that prints one JSON value, in the process of the test. */
export async function latitude<T = unknown>(
  env: Record<string, string>,
  ...args: string[]
): Promise<T> {
  return resultOf<T>(args, await runCommand(['--json', ...args], env));
}

/** Creates an organization and a key of it with all scopes. */
export async function createOrganization(
  env: Record<string, string>,
): Promise<{ id: string; key: string }> {
  const { id } = await latitude<{ id: string }>(env, 'organizations', 'create', '--name', 'o');
  return { id, key: await createKey(env, id) };
}

/** Creates a key with all scopes. */
export async function createKey(
  env: Record<string, string>,
  organizationId: string,
): Promise<string> {
  const { key } = await latitude<{ key: string }>(
    env,
    ...['keys', 'create', '--organization', organizationId, '--name', 'k', '--scopes', 'all'],
  );
  return key;
}
