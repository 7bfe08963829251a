import { Param, type PipeTransform } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.js';
import { UUID } from '../../fields/uuid.js';

/** What is no UUID names no resource (decisions 2); upper case names the same one. */
const existingId: PipeTransform<string, string> = {
  transform(id) {
    if (UUID.test(id)) return id.toLowerCase();
    throw new ApiError('not_found');
  },
};

/** The `:id` of the path. */
export const Id = () => Param('id', existingId);
