import { Injectable, type Type } from '@nestjs/common';
import { ModuleRef, Reflector } from '@nestjs/core';
import { OrganizationCalls } from '../../access/organization-calls.service.js';
import { Settings } from '../../config/settings.js';
import { ApiError, validationError } from '../../errors/api-error.js';
import type { Call } from '../../data/call.js';
import type { ApiRequest } from '../request/api-request.js';
import { readBytes } from '../request/request-reader.js';
import { WEBHOOK_VERIFIER, WebhookVerifier } from './webhook.decorator.js';

type Handler = Parameters<Reflector['get']>[1];

/** Verifies the deliveries of webhook routes. */
@Injectable()
export class WebhookReceiver {
  constructor(
    private readonly settings: Settings,
    private readonly reflector: Reflector,
    private readonly modules: ModuleRef,
    private readonly calls: OrganizationCalls,
  ) {}

  /**
   * Sets the call, the body and its bytes on the request.
   * @throws ApiError `payload_too_large`, `unauthorized`, `validation_error`, or what the verifier throws
   */
  async receive(request: ApiRequest, handler: Handler): Promise<void> {
    const verifier = this.verifierOf(handler);
    request.state.hasEnvelope = true;
    const body = await readBytes(request, this.settings.bodyLimitBytes);
    const { headers, originalUrl: url } = request;
    const params = request.params as Record<string, string>;
    const result = await verifier.verify({ headers, body, url, params });
    const call = await this.toCall(result);
    if (!call) {
      throw new ApiError('unauthorized', { message: 'The signature of the webhook is not valid.' });
    }
    request.state.call = call;
    Object.assign(request, { rawBody: body, body: parseBody(body, headers['content-type']) });
  }

  /** @throws Error with a predicate that follows the name of the route if no module provides the verifier */
  verifierOf(handler: Handler): WebhookVerifier {
    const type = this.reflector.get<Type<WebhookVerifier>>(WEBHOOK_VERIFIER, handler);
    try {
      return this.modules.get(type, { strict: false });
    } catch (cause) {
      const message = `is verified by ${type.name}, which no module provides. Add it to the providers of a module.`;
      throw new Error(message, { cause });
    }
  }

  private toCall(result: string | Call | undefined): Promise<Call | undefined> {
    return typeof result === 'string'
      ? this.calls.find(result, 'webhook')
      : Promise.resolve(result);
  }
}

/** Parses JSON and forms. Other bodies are undefined. */
function parseBody(body: Buffer, contentType = ''): unknown {
  if (/^application\/x-www-form-urlencoded\b/i.test(contentType)) {
    return Object.fromEntries(new URLSearchParams(body.toString()));
  }
  if (!/^application\/([^;]+\+)?json\b/i.test(contentType)) return undefined;
  try {
    return JSON.parse(body.toString()) as unknown;
  } catch {
    throw validationError([{ field: 'body', message: 'must be JSON' }]);
  }
}
