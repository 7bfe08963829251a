import { applyDecorators, Controller, UseFilters } from '@nestjs/common';
import { ErrorFilter } from '../error.filter.js';
import { ApiTag } from './api-route.decorator.js';

/**
 * Marks a controller of Latitude's own API. It binds the filter of Latitude, which answers errors before any filter that
 * a team binds to the application.
 * @param path below `/api/v1`
 * @param tag the tag of its routes in the OpenAPI document
 */
export function ApiController(path: string, tag: string, description: string): ClassDecorator {
  const decorators = [Controller(`api/v1/${path}`), UseFilters(ErrorFilter)];
  return applyDecorators(...decorators, ApiTag(tag, description));
}
