import type { OrganizationCalls } from '../../access/organization-calls.service.js';
import { ApiError, validationError } from '../../errors/api-error.js';
import type { ApiRequest } from '../request/api-request.js';
import { readBytes } from '../request/request-reader.js';
import type { WebhookVerifier } from '../routes/webhook-verifier.js';

/**
 * Verifies a delivery to a webhook route. Sets the call, the body and its bytes on the request.
 * @param limit maximum size of the body in bytes
 * @throws ApiError `payload_too_large`, `unauthorized`, `validation_error`, or what the verifier throws
 */
export async function receiveWebhook(
  request: ApiRequest,
  verifier: WebhookVerifier,
  calls: OrganizationCalls,
  limit: number,
): Promise<void> {
  const body = await readBytes(request, limit);
  const { headers, originalUrl: url } = request;
  const params = request.params as Record<string, string>;
  const result = await verifier.verify({ headers, body, url, params });
  const call = typeof result === 'string' ? await calls.find(result, 'webhook') : result;
  if (!call) {
    throw new ApiError('unauthorized', { message: 'The signature of the webhook is not valid.' });
  }
  request.state.call = call;
  Object.assign(request, { rawBody: body, body: parseBody(body, headers['content-type']) });
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
