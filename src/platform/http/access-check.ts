import { Injectable, type OnModuleInit, type Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { ERROR_CATALOGUE } from '../errors/error-catalogue.js';
import { RoutePlans } from './route-plans.js';
import { isKnownAccess, unknownScope } from './routes/access.js';
import type { RoutePlan } from './routes/route-plan.js';
import type { WebhookVerifier } from './routes/webhook-verifier.js';

/**
 * Fails startup if a route declares no access, requires a scope that does not exist, or has a description that names an
 * unknown error code.
 */
@Injectable()
export class AccessCheck implements OnModuleInit {
  constructor(
    private readonly plans: RoutePlans,
    private readonly modules: ModuleRef,
  ) {}

  /** @throws Error whose message has one line for each faulty route */
  onModuleInit(): void {
    const faults = this.plans.all().flatMap((plan) => this.faultOf(plan) ?? []);
    if (faults.length > 0) throw new Error(faults.join('\n'));
  }

  private faultOf(plan: RoutePlan): string | undefined {
    const { route, access, furtherScopes, webhookVerifier } = plan;
    if (access === undefined) {
      return `${route} declares no access. Add @RequireScope(), @AnyKey() or @Public() to its method.`;
    }
    const unknown = [access, ...furtherScopes].find((each) => !isKnownAccess(each));
    if (unknown !== undefined) return unknownScope(route, unknown);
    const { errors = [] } = plan.documentation ?? {};
    const codes = errors.filter((code) => !Object.hasOwn(ERROR_CATALOGUE, code));
    if (codes.length > 0) {
      const named = `error code${codes.length > 1 ? 's' : ''} ${codes.join(', ')}`;
      return `${route} names the unknown ${named} in @ApiRoute(). Use codes of Latitude, or declare them in the errors of an extension.`;
    }
    if (!webhookVerifier || this.isProvided(webhookVerifier)) return undefined;
    return `${route} is verified by ${webhookVerifier.name}, which no module provides. Add it to the providers of a module.`;
  }

  private isProvided(verifier: Type<WebhookVerifier>): boolean {
    try {
      this.modules.get(verifier, { strict: false });
      return true;
    } catch {
      return false;
    }
  }
}
