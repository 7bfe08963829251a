import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.js';
import { UUID } from '../../fields/kinds/uuid.js';
import { requestOf } from './api-request.js';

const PathId = createParamDecorator((name: string, context: ExecutionContext) => {
  const id = String(requestOf(context).params[name]);
  if (!UUID.test(id)) throw new ApiError('not_found');
  return id.toLowerCase();
});

/** The `:id` of the path, or another parameter of it. A malformed id is 404 (docs/contract/endpoints.md#requests). */
export const Id = (name = 'id') => PathId(name);
