import {
  applyDecorators,
  Controller,
  type ExceptionFilter,
  SetMetadata,
  type Type,
  UseFilters,
} from '@nestjs/common';
import { ErrorFilter } from '../error.filter.js';
import { ApiTag } from './api-route.decorator.js';

const LATITUDE = Symbol('controller of Latitude');

/** Whether a controller is one of Latitude, and not of a team. */
export function isLatitudeController(controller: object): boolean {
  return Reflect.hasOwnMetadata(LATITUDE, controller);
}

/**
 * Marks a controller of Latitude. It binds a filter of Latitude, which answers errors before any filter that a team binds
 * to the application.
 */
export function LatitudeController(
  path = '/',
  filter: Type<ExceptionFilter> = ErrorFilter,
): ClassDecorator {
  return applyDecorators(Controller(path), UseFilters(filter), SetMetadata(LATITUDE, true));
}

/**
 * Marks a controller of Latitude's own API.
 * @param path below `/api/v1`
 * @param tag the tag of its routes in the OpenAPI document
 */
export function ApiController(path: string, tag: string, description: string): ClassDecorator {
  return applyDecorators(LatitudeController(`api/v1/${path}`), ApiTag(tag, description));
}
