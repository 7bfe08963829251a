import { ApiError } from '../../errors/api-error.js';
import type { Call } from '../call.js';
import { type BatchTarget, idsOf, type Step } from './batch-target.js';

/** What no two items of a batch may have: a record, or a unique value of one. */
interface Claim {
  readonly key: string;
  /** The field of the item that has it. */
  readonly field: string;
}

/** Lets all steps fail that name the same record, or the same unique value. */
export function failRepeated(
  call: Call,
  steps: readonly Step[],
  { uniqueValuesOf }: Pick<BatchTarget<object, object>, 'uniqueValuesOf'>,
): void {
  const claims = steps.flatMap((step) =>
    claimsOf(step, (data) => uniqueValuesOf?.(call, data) ?? {}).map((claim) => ({
      ...claim,
      step,
    })),
  );
  const byKey = new Map<string, typeof claims>();
  for (const claim of claims) byKey.set(claim.key, [...(byKey.get(claim.key) ?? []), claim]);
  for (const step of steps) {
    const details = claims
      .filter((claim) => claim.step === step)
      .flatMap(({ key, field }) => {
        const other = byKey.get(key)?.find((claim) => claim.step !== step);
        return other ? [{ field, message: `is also in item ${other.step.index}` }] : [];
      });
    if (details.length === 0) continue;
    const message = 'Another item of the batch has the same record or value.';
    step.outcome = new ApiError('duplicate', { message, details });
  }
}

function claimsOf(
  { item, matches }: Step,
  valuesOf: (data: object) => Readonly<Record<string, string | null>>,
): Claim[] {
  if (!item) return [];
  const { id, action, values } = item;
  const records = [id ?? [], idsOf(matches)].flat().map((record) => {
    return { key: `record ${record}`, field: id === undefined ? 'match_on' : 'id' };
  });
  if (action === 'delete') return records;
  const unique = Object.entries(valuesOf(values.data)).flatMap(([field, value]) =>
    value === null ? [] : [{ key: `${field} ${value}`, field: `data.${field}` }],
  );
  return [...new Map([...records, ...unique].map((claim) => [claim.key, claim])).values()];
}
