import { ApiError } from '../../errors/api-error.js';
import { idsOf, type Step, type UniqueValues } from './batch-target.js';

/**
 * Lets all steps fail that name the same record, or the same unique value.
 * @param valuesOf returns the unique values of the data of an item
 */
export function failRepeated(
  steps: readonly Step[],
  valuesOf: (data: object) => UniqueValues,
): void {
  const claims = new Map(steps.map((step) => [step, claimsOf(step, valuesOf)]));
  for (const [step, own] of claims) {
    const details = [...own].flatMap(([claim, field]) => {
      const other = steps.find((each) => each !== step && claims.get(each)?.has(claim));
      return other ? [{ field, message: `is also in item ${other.index}` }] : [];
    });
    if (details.length === 0) continue;
    const message = 'Another item of the batch has the same record or value.';
    step.outcome = new ApiError('duplicate', { message, details });
  }
}

/** The records and unique values of a step, each with the field of the item that has it. */
function claimsOf(
  { item, matches }: Step,
  valuesOf: (data: object) => UniqueValues,
): Map<string, string> {
  const claims = new Map<string, string>();
  if (item?.id !== undefined) claims.set(`record ${item.id}`, 'id');
  for (const id of idsOf(matches)) claims.set(`record ${id}`, 'match_on');
  if (!item || item.action === 'delete') return claims;
  for (const [field, value] of Object.entries(valuesOf(item.values.data))) {
    if (value !== null) claims.set(`${field} ${value}`, `data.${field}`);
  }
  return claims;
}
