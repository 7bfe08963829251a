import { defineConfig, type LatitudeConfig } from '../../src/platform/extension/config.js';
import { runCommand } from './command-line.js';

interface Check {
  readonly name: string;
  readonly status: string;
  readonly message: string;
  readonly remedy?: string;
}

/** What `latitude doctor --json` has printed. */
export interface Diagnosis {
  readonly code: number;
  readonly output: string;
  readonly report: {
    readonly ok: boolean;
    readonly checks: readonly Check[];
    readonly upgrade?: { readonly from: string; readonly migrations: readonly { name: string }[] };
  };
}

/** Runs `latitude doctor --json` in the process of the test. */
export function runDoctor(env: Record<string, string>, ...args: string[]): Promise<Diagnosis> {
  return runDoctorOf(defineConfig(), env, ...args);
}

/** Runs the command of an application with extensions. */
export async function runDoctorOf(
  config: LatitudeConfig,
  env: Record<string, string>,
  ...args: string[]
): Promise<Diagnosis> {
  const { code, stdout, stderr } = await runCommand(['--json', 'doctor', ...args], env, config);
  if (stderr !== '' || code === null) throw new Error(`doctor failed: ${stderr}`);
  return { code, output: stdout, report: JSON.parse(stdout) as Diagnosis['report'] };
}
