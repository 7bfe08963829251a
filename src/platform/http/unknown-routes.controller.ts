import { All, Req, Res } from '@nestjs/common';
import type { Response } from 'express';
import { CATCH_ALL_PATH, UnknownRoute } from './routes/access.js';
import { Settings } from '../config/settings.js';
import { ApiError } from '../errors/api-error.js';
import { RoutePlans } from './route-plans.js';
import { type ApiRequest, isPreflight } from './request/api-request.js';
import { LatitudeController } from './routes/api-controller.decorator.js';

/** Maximum length of the path in the hint. The paths of all routes are shorter. */
const MAX_HINT_LENGTH = 200;

/** Answers requests that match no other route. It is a controller, so that they pass the guards. */
@LatitudeController()
export class UnknownRoutesController {
  constructor(
    private readonly plans: RoutePlans,
    private readonly settings: Settings,
  ) {}

  @All(CATCH_ALL_PATH)
  @UnknownRoute()
  answer(@Req() request: ApiRequest, @Res({ passthrough: true }) response: Response): void {
    if (isPreflight(request, response)) {
      response.status(204);
      return;
    }
    const allowed = this.plans.methodsAt(request.path);
    const message =
      this.plans.hintAt(request.path, this.settings) ??
      `There is no ${request.method} route at this path.${this.trailingSlashHint(request)}`;
    throw new ApiError('not_found', {
      message,
      headers: allowed.length > 0 ? { Allow: allowed.join(', ') } : {},
    });
  }

  /** Suggests the path without its trailing slash if that is a route. */
  private trailingSlashHint(request: ApiRequest): string {
    const { path } = request;
    if (!path.endsWith('/') || path.length > MAX_HINT_LENGTH) return '';
    const trimmed = path.replace(/\/+$/, '');
    // For each method: OPTIONS needs no key.
    const isRoute =
      this.plans.requiresKey({ method: '', path }) && this.plans.methodsAt(trimmed).length > 0;
    return isRoute ? ` Did you mean ${trimmed}?` : '';
  }
}
