import { Injectable, type Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { OrganizationCalls } from '../../access/organization-calls.service.js';
import { Settings } from '../../config/settings.js';
import { ApiError, validationError } from '../../errors/api-error.js';
import type { ApiRequest } from '../request/api-request.js';
import { readBytes } from '../request/request-reader.js';
import type { WebhookVerifier } from '../routes/webhook-verifier.js';

/** Verifies the deliveries of webhook routes. */
@Injectable()
export class WebhookReceiver {
  constructor(
    private readonly settings: Settings,
    private readonly modules: ModuleRef,
    private readonly calls: OrganizationCalls,
  ) {}

  /**
   * Sets the call, the body and its bytes on the request.
   * @throws ApiError `payload_too_large`, `unauthorized`, `validation_error`, or what the verifier throws
   */
  async receive(request: ApiRequest, type: Type<WebhookVerifier>): Promise<void> {
    const verifier = this.modules.get(type, { strict: false });
    const body = await readBytes(request, this.settings.bodyLimitBytes);
    const { headers, originalUrl: url } = request;
    const params = request.params as Record<string, string>;
    const result = await verifier.verify({ headers, body, url, params });
    const call = typeof result === 'string' ? await this.calls.find(result, 'webhook') : result;
    if (!call) {
      throw new ApiError('unauthorized', { message: 'The signature of the webhook is not valid.' });
    }
    request.state.call = call;
    Object.assign(request, { rawBody: body, body: parseBody(body, headers['content-type']) });
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
