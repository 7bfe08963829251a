import type {
  CanActivate,
  ExceptionFilter,
  INestApplication,
  NestInterceptor,
  Type,
} from '@nestjs/common';

// The parts of a Nest application that collect the enhancers of a route. They are not public API:
// everything that relies on them is in this file.

export type Controller = Type<unknown>;
export type Handler = (...args: never[]) => unknown;

/** A filter of a route, as Nest selects it: the first one whose types match. */
export interface BoundFilter {
  readonly func: ExceptionFilter['catch'];
  /** An empty list matches every exception. */
  readonly exceptionMetatypes: readonly Controller[];
}

/** Decides once for each route, when it is registered, which enhancers it has. */
export interface EnhancerPolicy {
  /** @param guards those of the whole application */
  globalGuards(guards: CanActivate[], controller: Controller): CanActivate[];
  globalInterceptors(interceptors: NestInterceptor[], controller: Controller): NestInterceptor[];
  /** @param interceptors all interceptors of the route, the outermost first */
  interceptors(
    interceptors: NestInterceptor[],
    handler: Handler,
    controller: Controller,
  ): NestInterceptor[];
  globalFilters(filters: ExceptionFilter[], controller: Controller): ExceptionFilter[];
  /** @param filters all filters of the route, in the order in which they are tried */
  filters(filters: BoundFilter[]): BoundFilter[];
}

interface Creator<Enhancer, Created> {
  create(instance: object, handler: Handler, ...rest: unknown[]): Created;
  getGlobalMetadata(...args: unknown[]): Enhancer[];
}

interface Internals {
  readonly routesResolver: {
    readonly routerExceptionsFilter: Creator<ExceptionFilter, { filters: BoundFilter[] }>;
    readonly routerExplorer: {
      readonly executionContextCreator: {
        readonly guardsContextCreator: Creator<CanActivate, CanActivate[]>;
        readonly interceptorsContextCreator: Creator<NestInterceptor, NestInterceptor[]>;
      };
    };
  };
}

/** Applies a policy to the routes of an application that is not initialized yet. */
export function applyEnhancerPolicy(app: INestApplication, policy: EnhancerPolicy): void {
  const { routerExceptionsFilter, routerExplorer } = (app as unknown as Internals).routesResolver;
  const { guardsContextCreator, interceptorsContextCreator } =
    routerExplorer.executionContextCreator;
  override(guardsContextCreator, {
    globals: (guards, controller) => policy.globalGuards(guards, controller),
    all: (guards) => guards,
  });
  override(interceptorsContextCreator, {
    globals: (interceptors, controller) => policy.globalInterceptors(interceptors, controller),
    all: (interceptors, handler, controller) =>
      policy.interceptors(interceptors, handler, controller),
  });
  override(routerExceptionsFilter, {
    globals: (filters, controller) => policy.globalFilters(filters, controller),
    all: (exceptions) => {
      exceptions.filters = policy.filters(exceptions.filters);
      return exceptions;
    },
  });
}

function override<Enhancer, Created>(
  creator: Creator<Enhancer, Created>,
  choose: {
    globals(enhancers: Enhancer[], controller: Controller): Enhancer[];
    all(created: Created, handler: Handler, controller: Controller): Created;
  },
): void {
  const create = creator.create.bind(creator);
  const getGlobalMetadata = creator.getGlobalMetadata.bind(creator);
  // `create` calls `getGlobalMetadata` synchronously.
  let controller: Controller = Object;
  creator.create = (instance, handler, ...rest) => {
    controller = instance.constructor as Controller;
    return choose.all(create(instance, handler, ...rest), handler, controller);
  };
  creator.getGlobalMetadata = (...args) => choose.globals(getGlobalMetadata(...args), controller);
}
