import { applyDecorators } from '@nestjs/common';
import { FurtherRule } from '../../../platform/fields/field.js';
import { Uuids } from '../../../platform/fields/kinds/kinds.js';
import { problemRule } from '../../../platform/fields/kinds/rules.js';

/** The maximum number of resources of one request. */
export const MAX_RESOURCES = 20;

/** Resources of which the first free one is taken, in place of `resource_id` (docs/contract/booking.md#any-of-several). */
export function AnyOfResources(): PropertyDecorator {
  return applyDecorators(
    Uuids({
      max: MAX_RESOURCES,
      description:
        'Resources, of which it takes one that is free. It is the one with the fewest appointments that day.',
      example: ['01a1fbdd-6f0a-7c3e-9b52-5d8e1f7a2c64'],
      isAlternative: true,
    }),
    FurtherRule(
      problemRule('isNotWithResource', (_, { resource_id }) =>
        resource_id === undefined || resource_id === null
          ? undefined
          : 'cannot be given together with resource_id',
      ),
    ),
  );
}
