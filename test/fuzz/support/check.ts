import path from 'node:path';
import fc, { type IAsyncProperty } from 'fast-check';

export const RUNS = Number(process.env.FUZZ_RUNS);
export const SEED = Number(process.env.FUZZ_SEED);

/**
 * Checks a property with inputs from the seed, one after another.
 * @param times multiplies the number of inputs, for fast properties with a large input space
 */
export async function check<T>(property: IAsyncProperty<T>, { times = 1 } = {}): Promise<void> {
  const result = await fc.check(property, { seed: SEED, numRuns: RUNS * times });
  if (!result.failed) return;
  const report = await fc.asyncDefaultReportMessage(result);
  const file = path.relative(process.cwd(), expect.getState().testPath ?? '');
  const command = `npm run test:fuzz -- --runs ${RUNS} --seed ${SEED} ${file}`;
  const cause = (result.errorInstance as Error | null)?.message ?? '';
  throw new Error(`${cause}\n\n${report}\n\nTo run the same again: ${command}`);
}
