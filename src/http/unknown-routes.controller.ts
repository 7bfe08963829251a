import { All, Controller, Req, Res } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { Response } from 'express';
import { UnknownRoute } from '../auth/access.js';
import { ApiError } from '../errors/api-error.js';
import type { ApiRequest } from '../tenancy/actor.js';

/** One entry of Express' routing table. */
interface Layer {
  readonly route?: { readonly path: string; readonly methods: Readonly<Record<string, boolean>> };
  match(path: string): boolean;
}

/** Braces make it match the root as well. */
export const EVERYTHING = '{*path}';

/** Answers what no other route does; stands last, so that the guards see those requests too. */
@Controller()
export class UnknownRoutesController {
  constructor(private readonly host: HttpAdapterHost) {}

  @All(EVERYTHING)
  @UnknownRoute()
  answer(@Req() request: ApiRequest, @Res({ passthrough: true }) response: Response): void {
    if (isPreflight(request, response)) response.status(204);
    else this.refuse(request);
  }

  private refuse(request: ApiRequest): never {
    const allowed = this.methodsOf(request.path);
    throw new ApiError('not_found', {
      message: `There is no ${request.method} route at this path.`,
      headers: allowed.length > 0 ? { Allow: allowed.join(', ') } : {},
    });
  }

  private methodsOf(path: string): string[] {
    const express = this.host.httpAdapter.getInstance<{ router: { stack: Layer[] } }>();
    const methods = new Set<string>();
    for (const layer of express.router.stack) {
      if (!layer.route || layer.route.path.endsWith(EVERYTHING) || !layer.match(path)) continue;
      for (const method of Object.keys(layer.route.methods)) methods.add(method.toUpperCase());
    }
    if (methods.has('GET')) methods.add('HEAD');
    return [...methods].sort();
  }
}

/** Whether the CORS middleware has answered the question of a browser, but for its end. */
function isPreflight({ method, headers }: ApiRequest, response: Response): boolean {
  return (
    method === 'OPTIONS' &&
    headers['access-control-request-method'] !== undefined &&
    response.hasHeader('Access-Control-Allow-Origin')
  );
}
