import { Param, type PipeTransform } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.js';
import { UUID } from '../../fields/kinds/uuid.js';

/** Answers 404 to a malformed id (docs/contract/endpoints.md#requests). */
const uuidOrNotFound: PipeTransform<string, string> = {
  transform(id) {
    if (UUID.test(id)) return id.toLowerCase();
    throw new ApiError('not_found');
  },
};

/** The `:id` of the path, or another parameter of it. */
export const Id = (name = 'id') => Param(name, uuidOrNotFound);
