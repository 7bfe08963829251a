import '../../platform/config/v8-flags.js';
import 'reflect-metadata';
import { describeFailure } from '../../platform/config/failure.js';
import { defineConfig, type LatitudeConfig } from '../../platform/extension/config.js';

/**
 * Runs an application and ends the process: a command if there are arguments, otherwise the server
 * until a stop signal.
 * @param args the arguments without those of Node
 */
export async function run(
  config: LatitudeConfig = defineConfig(),
  args: readonly string[] = process.argv.slice(2),
): Promise<never> {
  if (args.length > 0) {
    const { runCommandLine } = await import('../cli/command-line.js');
    process.exit(await runCommandLine(config, args));
  }
  try {
    const { serve } = await import('./serve.js');
    await serve(config);
    process.exit(0);
  } catch (error) {
    process.stderr.write(`latitude: ${describeFailure(error)}\n`);
    process.exit(1);
  }
}
