import type { INestApplication, Type } from '@nestjs/common';
import type { OpenAPIObject, OperationObject } from '@nestjs/swagger';
import { describeBody, type Swagger } from './declared-parameters.js';
import { describedDtos, describeProperties } from './dto-properties.js';
import { responseDtoOf, type RestHandler, type Route } from './routes.js';

/** Extension of an operation with its handler. */
const HANDLER = 'x-handler';

export const OPENAPI_VERSION = '3.1.0';

const METHODS: readonly Route['method'][] = ['get', 'put', 'post', 'delete', 'patch'];

/** An operation as @nestjs/swagger describes it. */
export interface ExploredOperation extends Pick<Route, 'method' | 'path'> {
  readonly operation: OperationObject;
  readonly handler: RestHandler;
}

export interface Exploration {
  /** In the order in which the modules are imported. */
  readonly operations: readonly ExploredOperation[];
  readonly schemas: Readonly<Record<string, object>>;
  /** Returns the reference of a DTO among the schemas. */
  readonly refOf: (dto: Type<object>) => string;
}

/**
 * Makes @nestjs/swagger describe handlers from the decorators of Nest, its own and those of class-validator.
 * The package is loaded on demand, because loading takes 0.2 s of CPU.
 */
export async function explore(
  app: INestApplication,
  handlers: readonly RestHandler[],
): Promise<Exploration> {
  const swagger = await import('@nestjs/swagger');
  const { getSchemaPath, SwaggerModule } = swagger;
  for (const handler of handlers) markHandler(handler, swagger);
  const inputs = handlers.flatMap((handler) => inputClassesOf(handler, swagger));
  for (const dto of describedDtos(inputs)) defineProperties(dto, swagger);
  const config = { openapi: OPENAPI_VERSION, info: { title: '', version: '' } };
  const { paths, components } = SwaggerModule.createDocument(app, config, {
    ignoreGlobalPrefix: true,
    onlyIncludeDecoratedEndpoints: true,
    operationIdFactory: operationIds(),
  });
  return {
    operations: operationsIn(paths, handlers),
    schemas: { ...components?.schemas },
    refOf: getSchemaPath,
  };
}

/** The controllers, handlers and DTOs that have their decorators. A document can be created several times. */
const DECORATED = new WeakSet<object>();

function isNew(target: object): boolean {
  const isFirst = !DECORATED.has(target);
  DECORATED.add(target);
  return isFirst;
}

/** Includes a handler in the document, with its response DTO, its tag and itself, to find its operations. */
function markHandler({ controller, name, handler, tag, options }: RestHandler, swagger: Swagger) {
  const { ApiExtension, ApiExtraModels, ApiIncludeEndpoint, ApiTags } = swagger;
  if (isNew(controller) && tag) ApiTags(tag.name)(controller);
  if (!isNew(handler)) return;
  const models = [responseDtoOf(options) ?? []].flat();
  const mark = ApiExtension(HANDLER, { handler } satisfies Mark);
  const marks: MethodDecorator[] = [ApiIncludeEndpoint(), mark, ApiExtraModels(...models)];
  for (const decorate of marks) decorate(controller.prototype as object, name, { value: handler });
}

function inputClassesOf(handler: RestHandler, swagger: Swagger): Type<object>[] {
  const { body, query } = handler.inputs;
  return [body ?? [], query ?? [], describeBody(handler, swagger)].flat();
}

/** Makes @nestjs/swagger describe all properties of a DTO, also those without `@ApiProperty()`. */
function defineProperties(dto: Type<object>, { ApiProperty, DECORATORS }: Swagger): void {
  if (!isNew(dto)) return;
  const prototype = dto.prototype as object;
  for (const [name, options] of Object.entries(describeProperties(dto))) {
    const declared = Reflect.getMetadata(DECORATORS.API_MODEL_PROPERTIES, prototype, name) as
      object | undefined;
    ApiProperty({ ...options, ...declared })(prototype, name);
  }
}

/** Names operations, such as `leadsList`, and `leadsList2` for the second of this name. */
function operationIds(): (controller: string, method: string) => string {
  const used = new Set<string>();
  return (controller, method) => {
    // The method of a handler with several paths ends with its index, such as `list[0]`.
    const handler = method.replace(/\[\d+\]$/, '');
    const name = lowerFirst(controller.replace(/Controller$/, '')) + upperFirst(handler);
    let id = name;
    for (let number = 2; used.has(id); number++) id = `${name}${number}`;
    used.add(id);
    return id;
  };
}

function operationsIn(
  paths: OpenAPIObject['paths'],
  handlers: readonly RestHandler[],
): ExploredOperation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const { [HANDLER]: mark, ...operation } = (item[method] ?? {}) as Explored;
      const handler = mark && handlers.find((one) => one.handler === mark.handler);
      return handler ? [{ path, method, operation, handler }] : [];
    }),
  );
}

type Mark = Pick<RestHandler, 'handler'>;

type Explored = OperationObject & { readonly [HANDLER]?: Mark };

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
