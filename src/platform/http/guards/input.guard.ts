import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { Response } from 'express';
import { OrganizationCalls } from '../../access/organization-calls.service.js';
import { Settings } from '../../config/settings.js';
import { type MaybePromise, mapMaybePromise } from '../../maybe-promise.js';
import type { ApiRequest } from '../request/api-request.js';
import { bindInput } from '../request/bind-input.js';
import { assertFile } from '../request/file-stream.js';
import { isMultipartForm } from '../request/content-type.js';
import type { InputPlan } from '../routes/input-plan.js';
import { receiveWebhook } from '../webhooks/webhook-receiver.js';

/**
 * The last guard. It parses the query and the body as the plan of the route says, and reads them into DTOs of fields such
 * as `@Text()`. It is a guard, so that guards and interceptors of a team find this input valid.
 */
@Injectable()
export class InputGuard implements CanActivate {
  constructor(
    private readonly settings: Settings,
    private readonly calls: OrganizationCalls,
    private readonly modules: ModuleRef,
  ) {}

  canActivate(context: ExecutionContext): MaybePromise<boolean> {
    const request = context.switchToHttp().getRequest<ApiRequest>();
    const { plan } = request.state;
    const { bodyLimitBytes } = this.settings;
    if (plan?.webhookVerifier) {
      const verifier = this.modules.get(plan.webhookVerifier, { strict: false });
      return receiveWebhook(request, verifier, this.calls, bodyLimitBytes).then(() => true);
    }
    if (!plan?.input) return true;
    const response = context.switchToHttp().getResponse<Response>();
    const input = inputOf(request, plan.input, plan.parsesForms);
    if (plan.file) assertFile(request, plan.file);
    return mapMaybePromise(bindInput(request, input, bodyLimitBytes), () => {
      const { call } = request.state;
      if (!plan.bodyCheck || !call) return true;
      const check = this.modules.get(plan.bodyCheck, { strict: false });
      const checked = check.assertAllowed(call, request.body as object, response);
      return mapMaybePromise(checked, () => true);
    });
  }
}

/** Without the body of a form: an interceptor parses it, and `ParameterPipe` reads its fields. */
function inputOf({ headers }: ApiRequest, input: InputPlan, parsesForms: boolean): InputPlan {
  const isForm = parsesForms && input.body && isMultipartForm(headers['content-type']);
  return isForm ? { ...input, body: undefined } : input;
}
