import type { Type } from '@nestjs/common';
import { MODULE_METADATA } from '@nestjs/common/constants.js';
import { AppModule } from '../../src/app.module.js';
import { type Field, fieldsOf } from '../../src/fields/field.js';
import { type Route as DeclaredRoute, routesOf } from '../../src/http/openapi/routes.js';
import { nameOf, type Route } from '../../src/testing/routes.js';

/** The routes of the features, as their controllers declare them. */
const DECLARED = routesOf(controllersIn(AppModule));

/** The fields of a route's query or body, as its DTO declares them. */
export function declaredFieldsOf(route: Route, part: 'query' | 'body'): readonly Field[] {
  const declared = DECLARED.find((candidate) => shown(candidate) === nameOf(route));
  const dto = declared?.inputs[part];
  return dto ? fieldsOf(dto) : [];
}

/** How a declared route is called in the name of a test. */
export function shown({ method, path }: DeclaredRoute): string {
  return `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`;
}

function controllersIn(module: Type<object>): Type<object>[] {
  const listed = (key: string) => (Reflect.getMetadata(key, module) ?? []) as unknown[];
  const imported = listed(MODULE_METADATA.IMPORTS).filter((one) => typeof one === 'function');
  return [
    ...(listed(MODULE_METADATA.CONTROLLERS) as Type<object>[]),
    ...imported.flatMap((one) => controllersIn(one as Type<object>)),
  ];
}
