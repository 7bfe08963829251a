import type { INestApplication, Type } from '@nestjs/common';
import type { OpenAPIObject, OperationObject } from '@nestjs/swagger';
import { describeBody, type Swagger } from './declared-parameters.js';
import { describedDtos, describeProperties } from './dto-properties.js';
import { responseDtoOf, type RestHandler, type Route } from './routes.js';

/** Extension of an operation with the number of its handler. */
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

/** The numbers of handlers and the controllers with tags. Decorators are applied once. */
const NUMBERS = new WeakMap<object, number>();
const TAGGED = new WeakSet<object>();
let lastNumber = 0;

/** Includes a handler in the document, with its number, its response DTO and its tag. */
function markHandler({ controller, name, handler, tag, options }: RestHandler, swagger: Swagger) {
  const { ApiExtension, ApiExtraModels, ApiIncludeEndpoint, ApiTags } = swagger;
  if (tag && !TAGGED.has(controller)) ApiTags(tag.name)(controller);
  TAGGED.add(controller);
  if (NUMBERS.has(handler)) return;
  NUMBERS.set(handler, ++lastNumber);
  const models = [responseDtoOf(options) ?? []].flat();
  const number = ApiExtension(HANDLER, lastNumber);
  const marks: MethodDecorator[] = [ApiIncludeEndpoint(), number, ApiExtraModels(...models)];
  for (const mark of marks) mark(controller.prototype as object, name, { value: handler });
}

function inputClassesOf(handler: RestHandler, swagger: Swagger): Type<object>[] {
  const { body, query } = handler.inputs;
  return [body ?? [], query ?? [], describeBody(handler, swagger)].flat();
}

/** The DTOs whose properties are described. Decorators are applied once. */
const DESCRIBED = new WeakSet<Type<object>>();

/** Makes @nestjs/swagger describe all properties of a DTO, also those without `@ApiProperty()`. */
function defineProperties(dto: Type<object>, { ApiProperty, DECORATORS }: Swagger): void {
  if (DESCRIBED.has(dto)) return;
  DESCRIBED.add(dto);
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
  const byNumber = new Map(handlers.map((one) => [NUMBERS.get(one.handler), one]));
  return Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const { [HANDLER]: number, ...operation } = (item[method] ?? {}) as Explored;
      const handler = number === undefined ? undefined : byNumber.get(number);
      return handler ? [{ path, method, operation, handler }] : [];
    }),
  );
}

type Explored = OperationObject & { readonly [HANDLER]?: number };

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
