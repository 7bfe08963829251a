import type { Type } from '@nestjs/common';
import { MODULE_METADATA } from '@nestjs/common/constants.js';
import { FEATURES } from '../../src/app.module.js';
import { handlersOf } from '../../src/platform/discovery/declared-handlers.js';
import { type Field, fieldsOf } from '../../src/platform/fields/field.js';
import { type RestPlan, restPlansOf } from '../../src/platform/http/openapi/routes.js';
import { routeName, type Route } from '../../src/testing/routes.js';

/** The routes of the features, as their controllers declare them. */
export const DECLARED_ROUTES = restPlansOf(
  classesIn(MODULE_METADATA.CONTROLLERS).flatMap((controller) => handlersOf(controller)),
);

/** The fields of a route's query or body, as its DTO declares them. */
export function declaredFieldsOf(route: Route, part: 'query' | 'body'): readonly Field[] {
  const dto = declarationOf(route)?.input?.[part]?.type;
  return dto ? fieldsOf(dto) : [];
}

/** The declaration of a route in its controller. */
export function declarationOf(route: Route): RestPlan | undefined {
  return DECLARED_ROUTES.find((declared) => declared.route === routeName(route));
}

/** The classes that the modules of the features list under a key, such as their controllers. */
export function classesIn(key: string): Type<object>[] {
  return FEATURES.flatMap(({ module }) => classesOf(key, module as Type<object>));
}

function classesOf(key: string, module: Type<object>): Type<object>[] {
  const listed = (name: string) =>
    ((Reflect.getMetadata(name, module) ?? []) as unknown[]).filter(
      (one): one is Type<object> => typeof one === 'function',
    );
  const imported = listed(MODULE_METADATA.IMPORTS);
  return [...listed(key), ...imported.flatMap((one) => classesOf(key, one))];
}
