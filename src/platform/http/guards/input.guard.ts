import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { OrganizationCalls } from '../../access/organization-calls.service.js';
import { assertScopes } from '../../access/scopes.js';
import { Settings } from '../../config/settings.js';
import { type MaybePromise, mapMaybePromise } from '../../maybe-promise.js';
import { type ApiRequest, isRead, requestOf, responseOf } from '../request/api-request.js';
import { bindInput } from '../request/bind-input.js';
import { assertFile } from '../request/file-stream.js';
import { isMultipartForm } from '../request/request-reader.js';
import { preconditionOf } from '../response/envelope.js';
import type { InputPlan } from '../routes/input-plan.js';
import type { RoutePlan } from '../routes/route-plan.js';
import { receiveWebhook } from './webhook-receiver.js';

/**
 * The last guard. It parses the query and the body as the plan of the route says, and reads them into DTOs of fields such
 * as `@Text()`, and reads the headers of a write. It is a guard, so that guards and interceptors of a team find this
 * input valid.
 */
@Injectable()
export class InputGuard implements CanActivate {
  constructor(
    private readonly settings: Settings,
    private readonly calls: OrganizationCalls,
    private readonly modules: ModuleRef,
  ) {}

  canActivate(context: ExecutionContext): MaybePromise<boolean> {
    const request = requestOf(context);
    const { plan } = request.state;
    const { bodyLimitBytes } = this.settings;
    if (plan?.webhookVerifier) {
      const verifier = this.modules.get(plan.webhookVerifier, { strict: false });
      return receiveWebhook(request, verifier, this.calls, bodyLimitBytes).then(() => true);
    }
    if (!plan?.input) return true;
    const input = inputOf(request, plan.input);
    if (plan.file) assertFile(request, plan.file);
    return mapMaybePromise(bindInput(request, input, bodyLimitBytes), () =>
      mapMaybePromise(this.checkBody(context, plan), () => {
        checkScopesOfQuery(request, input);
        if (plan.mayWrite || plan.isAudited) setTermsOfWrite(request, plan);
        return true;
      }),
    );
  }

  private checkBody(context: ExecutionContext, { bodyCheck }: RoutePlan): MaybePromise<void> {
    const request = requestOf(context);
    const { call } = request.state;
    if (!bodyCheck || !call) return undefined;
    const check = this.modules.get(bodyCheck, { strict: false });
    return check.assertAllowed(call, request.body as object, responseOf(context));
  }
}

/** Without the body of a form, which an interceptor of a team parses. */
function inputOf({ headers }: ApiRequest, input: InputPlan): InputPlan {
  const isForm = input.mayBeForm && isMultipartForm(headers['content-type']);
  return isForm ? { ...input, body: undefined } : input;
}

/** @throws ApiError `insufficient_scope` for a parameter whose value needs another scope than the route */
function checkScopesOfQuery({ state, query }: ApiRequest, { query: source }: InputPlan): void {
  if (source?.scopesOf && state.call) assertScopes(state.call.actor, source.scopesOf(query));
}

/**
 * Adds the id, the trace and the client of the request and `If-Match` to the call of a write, and the same without `If-Match` to
 * that of an audited read.
 */
function setTermsOfWrite(request: ApiRequest, { isConditional, isAudited }: RoutePlan): void {
  const { state, method } = request;
  const isReading = isRead(request);
  if (!state.call || (isReading && !isAudited)) return;
  const { requestId, traceparent, clientAddress: address } = state;
  const given = { ...state.call, requestId, traceparent, address };
  const hasPrecondition = !isReading && (method !== 'POST' || isConditional);
  const precondition = hasPrecondition ? preconditionOf(request) : undefined;
  state.call = precondition ? { ...given, precondition } : given;
}
