import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { Injectable } from '@nestjs/common';
import { Settings } from '../../platform/config/settings.js';
import { VERSION } from '../../platform/config/version.js';
import { MAX_RESPONSE_BYTES } from './delivery.dto.js';
import { HostResolver } from './host-resolver.js';
import { signaturesOf } from './signature.js';
import { addressOf, hasLoopbackName, isPublicAddress } from './target-url.js';

/** An event for a receiver. */
export interface Message {
  readonly url: string;
  /** The request has a signature for each of them. */
  readonly secrets: readonly string[];
  readonly id: string;
  readonly body: string;
}

/** What the receiver replied to one attempt, or why there was no response. */
export interface AttemptResult {
  readonly durationMs: number;
  readonly responseStatus: number | null;
  readonly responseBody: string | null;
  /** A message for the owner of the webhook; null if the attempt succeeded. */
  readonly error: string | null;
}

/** Time limit of an attempt, from the resolution of the host to the end of the response. */
const TIMEOUT_MS = 15_000;

/** Node.js also reads lower ones, such as 000. */
const MIN_STATUS = 100;

const NOT_PUBLIC = 'The host has an address that is not public.';

/** Sends events to receivers (docs/contract/webhooks.md#requests). */
@Injectable()
export class WebhookSender {
  private readonly allowsPrivateTargets: boolean;

  constructor(
    private readonly resolver: HostResolver,
    settings: Settings,
  ) {
    this.allowsPrivateTargets = settings.webhooksAllowPrivateTargets;
  }

  /**
   * Whether the host of a URL is an IP address or a name of this machine that must not receive events. Other
   * names are resolved later.
   */
  isRefused(url: string): boolean {
    const address = addressOf(url);
    if (address !== undefined) return !this.allows(address);
    return !this.allowsPrivateTargets && hasLoopbackName(url);
  }

  /** Makes one attempt. It never rejects. */
  async send(message: Message): Promise<AttemptResult> {
    const start = performance.now();
    const deadline = AbortSignal.timeout(TIMEOUT_MS);
    const result = await this.attempt(message, deadline).catch((error: unknown) => ({
      responseStatus: null,
      responseBody: null,
      error: messageOf(error, deadline),
    }));
    return { ...result, durationMs: Math.round(performance.now() - start) };
  }

  private async attempt(message: Message, signal: AbortSignal) {
    if (this.isRefused(message.url)) throw new DeliveryError(NOT_PUBLIC);
    const response = await this.request(message, signal);
    const { statusCode: responseStatus = 0 } = response;
    if (responseStatus < MIN_STATUS) {
      response.destroy();
      throw new DeliveryError('The receiver sent an invalid response.');
    }
    const responseBody = await readStart(response);
    return { responseStatus, responseBody, error: errorOf(responseStatus) };
  }

  private request(
    { url, secrets, id, body }: Message,
    signal: AbortSignal,
  ): Promise<http.IncomingMessage> {
    const timestamp = Math.floor(Date.now() / 1_000);
    const isSecure = new URL(url).protocol === 'https:';
    return new Promise((resolve, reject) => {
      const request = (isSecure ? https : http).request(url, {
        method: 'POST',
        // Each attempt has a connection of its own, so that its address is checked. Proxy variables do not apply.
        agent: false,
        lookup: this.lookup,
        signal,
        headers: {
          'Content-Type': 'application/json',
          'Content-Length': Buffer.byteLength(body),
          'User-Agent': `latitude/${VERSION}`,
          'webhook-id': id,
          'webhook-timestamp': timestamp,
          'webhook-signature': signaturesOf(secrets, { id, timestamp, body }),
        },
      });
      request.once('response', resolve).on('error', reject).end(body);
    });
  }

  /** Resolves a host to addresses that were checked. The connection uses these addresses. */
  private readonly lookup: LookupFunction = (host, { all }, callback) => {
    const resolving = this.allowsPrivateTargets
      ? this.resolver.resolveLocally(host)
      : this.resolver.resolve(host);
    resolving.then(
      (addresses) => {
        const [first] = addresses;
        if (!first) callback(new DeliveryError('The host has no address.'), []);
        else if (addresses.some(({ address }) => !this.allows(address))) {
          callback(new DeliveryError(NOT_PUBLIC), []);
        } else if (all) callback(null, [...addresses]);
        else callback(null, first.address, first.family);
      },
      (error: unknown) => {
        callback(error as Error, []);
      },
    );
  };

  private allows(address: string): boolean {
    return this.allowsPrivateTargets || isPublicAddress(address);
  }
}

/** A failure whose message is meant for the owner of the webhook. */
class DeliveryError extends Error {}

/** Reads the start of a response and ends the connection. A response that is cut off still has its status. */
async function readStart(response: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= MAX_RESPONSE_BYTES) break;
    }
  } catch {
    // The part that arrived is kept.
  }
  response.destroy();
  const start = Buffer.concat(chunks).subarray(0, MAX_RESPONSE_BYTES);
  return start.toString('utf8').replaceAll('\0', '');
}

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
  if (error instanceof DeliveryError) return error.message;
  const { code } = error as NodeJS.ErrnoException;
  return CONNECTION_ERRORS[code ?? ''] ?? `The request failed: ${code ?? 'unknown error'}.`;
}
