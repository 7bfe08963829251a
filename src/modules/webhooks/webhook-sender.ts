import type { LookupAddress } from 'node:dns';
import dns from 'node:dns/promises';
import http from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import { callbackify } from 'node:util';
import { Injectable } from '@nestjs/common';
import { Settings } from '../../platform/config/settings.js';
import { VERSION } from '../../platform/config/version.js';
import { MAX_RESPONSE_BYTES } from './delivery.dto.js';
import type { AttemptResult, DueDelivery } from './deliveries.repository.js';
import { signaturesOf } from './signature.js';
import { hasPrivateHost, isPublicAddress } from './target-url.js';

/** Time limit of an attempt, from the resolution of the host to the end of the response. */
const TIMEOUT_MS = 15_000;

/** Node.js also reads lower ones, such as 000. */
const MIN_STATUS = 100;

const NAME_SERVERS = new dns.Resolver({ timeout: 3_000, tries: 2 });

const NOT_PUBLIC = 'The host has an address that is not public.';

/** Sends events to receivers (docs/contract/webhooks.md#requests). */
@Injectable()
export class WebhookSender {
  constructor(private readonly settings: Settings) {}

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
    const result = await this.attempt(delivery, deadline).catch((error: unknown) => ({
      response_status: null,
      response_body: null,
      error: messageOf(error, deadline),
    }));
    return { ...result, duration_ms: Math.round(performance.now() - start) };
  }

  private async attempt(delivery: DueDelivery, signal: AbortSignal) {
    if (this.isRefused(delivery.url)) throw new DeliveryError(NOT_PUBLIC);
    const response = await this.request(delivery, signal);
    const { statusCode: response_status = 0 } = response;
    if (response_status < MIN_STATUS) {
      response.destroy();
      throw new DeliveryError('The receiver sent an invalid response.');
    }
    const response_body = await readStart(response);
    return { response_status, response_body, error: errorOf(response_status) };
  }

  private request(
    { url, secret, previous_secret, event_id, body }: DueDelivery,
    signal: AbortSignal,
  ): Promise<http.IncomingMessage> {
    const timestamp = Math.floor(Date.now() / 1_000);
    const secrets = previous_secret === null ? [secret] : [secret, previous_secret];
    const { Agent, request: start } = new URL(url).protocol === 'https:' ? https : http;
    return new Promise((resolve, reject) => {
      const request = start(url, {
        method: 'POST',
        // Each attempt has a connection of its own, so that its address is checked. Proxy variables do not apply.
        agent: new Agent({ autoSelectFamily: true, lookup: this.lookup }),
        signal,
        headers: {
          'Content-Type': 'application/json',
          'Content-Length': Buffer.byteLength(body),
          'User-Agent': `latitude/${VERSION}`,
          'webhook-id': event_id,
          'webhook-timestamp': timestamp,
          'webhook-signature': signaturesOf(secrets, `${event_id}.${timestamp}.${body}`),
        },
      });
      request.once('response', resolve).on('error', reject).end(body);
    });
  }

  /**
   * Finds the addresses of a host. Unlike `dns.lookup`, a query of the name servers blocks no thread of Node while a server
   * does not reply, and does not read the hosts file, which can contain names of private networks.
   * @returns an empty list if the host has no address
   */
  async resolve(host: string): Promise<LookupAddress[]> {
    if (this.settings.webhooksAllowPrivateTargets)
      return dns.lookup(host, { all: true }).catch(() => []);
    const found = await Promise.all([
      NAME_SERVERS.resolve4(host).catch(() => []),
      NAME_SERVERS.resolve6(host).catch(() => []),
    ]);
    return found.flat().map((address) => ({ address, family: isIP(address) }));
  }

  /** The look-up of connections. With `autoSelectFamily`, Node asks for all addresses, and connects to one of them. */
  private readonly lookup = callbackify<string, object, LookupAddress[]>((host) =>
    this.allowedAddressesOf(host),
  );

  /**
   * The addresses of a host, after they were checked.
   * @throws DeliveryError if there are none, or one that is not public
   */
  private async allowedAddressesOf(host: string): Promise<LookupAddress[]> {
    const addresses = await this.resolve(host);
    if (addresses.length === 0) throw new DeliveryError('The host has no address.');
    const arePublic = addresses.every(({ address }) => isPublicAddress(address));
    if (arePublic || this.settings.webhooksAllowPrivateTargets) return addresses;
    throw new DeliveryError(NOT_PUBLIC);
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
