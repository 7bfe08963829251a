import { Injectable } from '@nestjs/common';
import {
  deliverySpan,
  failSpan,
  inSpan,
  type Span,
  traceparentOf,
} from '../../platform/tracing.js';
import { Settings } from '../../platform/config/settings.js';
import {
  AddressError,
  OutgoingRequests,
  readStart,
} from '../../platform/outgoing/outgoing-requests.js';
import { hasPrivateHost } from '../../platform/outgoing/public-address.js';
import { MAX_RESPONSE_BYTES } from './delivery.dto.js';
import type { AttemptResult, DueDelivery } from './deliveries.repository.js';
import { signaturesOf } from './signature.js';

/** Time limit of an attempt, from the resolution of the host to the end of the response. */
const TIMEOUT_MS = 15_000;

/** Node.js also reads lower ones, such as 000. */
const MIN_STATUS = 100;

/** Sends events to receivers (docs/contract/webhooks.md#requests). */
@Injectable()
export class WebhookSender {
  constructor(
    private readonly settings: Settings,
    private readonly requests: OutgoingRequests,
  ) {}

  /**
   * Whether the host of a URL is an IP address or a name of this machine that must not receive events. Other
   * names are resolved later.
   */
  isRefused(url: string): boolean {
    return !this.settings.webhooksAllowPrivateTargets && hasPrivateHost(url);
  }

  /** Makes one attempt. It never rejects. */
  async send(delivery: DueDelivery): Promise<AttemptResult> {
    const start = performance.now();
    const deadline = AbortSignal.timeout(TIMEOUT_MS);
    const { url, traceparent } = delivery;
    const result = await inSpan(deliverySpan(url, traceparent), (span) =>
      this.attempt(delivery, deadline, span),
    ).catch((error: unknown) => ({
      response_status: null,
      response_body: null,
      error: messageOf(error, deadline),
    }));
    return { ...result, duration_ms: Math.round(performance.now() - start) };
  }

  private async attempt(delivery: DueDelivery, signal: AbortSignal, span: Span | undefined) {
    const traceparent = traceparentOf(span, delivery.traceparent) ?? null;
    const response = await this.request({ ...delivery, traceparent }, signal);
    const { statusCode: response_status = 0 } = response;
    span?.setAttribute('http.response.status_code', response_status);
    if (errorOf(response_status) !== null) failSpan(span, String(response_status));
    if (response_status < MIN_STATUS) {
      response.destroy();
      throw new DeliveryError('The receiver sent an invalid response.');
    }
    const start = await readStart(response, MAX_RESPONSE_BYTES);
    const response_body = start.toString('utf8').replaceAll('\0', '');
    return { response_status, response_body, error: errorOf(response_status) };
  }

  private request(
    { url, secret, previous_secret, event_id, body, traceparent }: DueDelivery,
    signal: AbortSignal,
  ) {
    const timestamp = Math.floor(Date.now() / 1_000);
    const secrets = previous_secret === null ? [secret] : [secret, previous_secret];
    return this.requests.send(url, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(body),
        'webhook-id': event_id,
        'webhook-timestamp': timestamp,
        'webhook-signature': signaturesOf(secrets, `${event_id}.${timestamp}.${body}`),
        ...(this.settings.webhooksTraceparent && traceparent && { traceparent }),
      },
      body,
      signal,
      allowPrivate: this.settings.webhooksAllowPrivateTargets,
    });
  }
}

/** A failure whose message is meant for the owner of the webhook. */
class DeliveryError extends Error {}

function errorOf(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  const isRedirect = status >= 300 && status < 400;
  return `The receiver answered ${status}${isRedirect ? '. Redirects are not followed.' : '.'}`;
}

const CONNECTION_ERRORS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'The host refused the connection.',
  ECONNRESET: 'The receiver closed the connection without an answer.',
  EHOSTUNREACH: 'The host is not reachable.',
};

function messageOf(error: unknown, deadline: AbortSignal): string {
  if (deadline.aborted) return `The receiver did not answer within ${TIMEOUT_MS / 1_000} seconds.`;
  if (error instanceof DeliveryError || error instanceof AddressError) return error.message;
  const { code } = error as NodeJS.ErrnoException;
  return CONNECTION_ERRORS[code ?? ''] ?? `The request failed: ${code ?? 'unknown error'}.`;
}
