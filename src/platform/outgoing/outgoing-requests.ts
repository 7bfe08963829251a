import type { LookupAddress } from 'node:dns';
import dns from 'node:dns/promises';
import http from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import { callbackify } from 'node:util';
import { Injectable } from '@nestjs/common';
import { VERSION } from '../config/version.js';
import { hasPrivateHost, isPublicAddress } from './public-address.js';

const NAME_SERVERS = new dns.Resolver({ timeout: 3_000, tries: 2 });

const NOT_PUBLIC = 'The host has an address that is not public.';

/** A request to a URL that a caller has named. */
interface OutgoingRequest {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body?: string;
  /** Ends the request at any time, from the resolution of the host to the end of the response. */
  readonly signal: AbortSignal;
  readonly allowPrivate?: boolean;
}

/** The host of a URL may not be requested, or has no address. The message is meant for its owner. */
export class AddressError extends Error {}

/**
 * Sends requests to URLs that callers have named. A host is requested only if all its addresses are public, which is checked
 * before a connection is opened. Each request has one attempt. Redirects are not followed, and proxy variables do not apply.
 */
@Injectable()
export class OutgoingRequests {
  /** @throws AddressError, or the error of the connection */
  async send(
    url: string,
    { method, headers, body, signal, allowPrivate = false }: OutgoingRequest,
  ): Promise<http.IncomingMessage> {
    if (!allowPrivate && hasPrivateHost(url)) throw new AddressError(NOT_PUBLIC);
    // With `autoSelectFamily`, Node asks for all addresses, and connects to one of them.
    const lookup = callbackify<string, object, LookupAddress[]>((host) =>
      this.allowedAddressesOf(host, allowPrivate),
    );
    const { Agent, request: start } = new URL(url).protocol === 'https:' ? https : http;
    return new Promise((resolve, reject) => {
      const request = start(url, {
        method,
        // Each request has a connection of its own, so that its address is checked.
        agent: new Agent({ autoSelectFamily: true, lookup }),
        signal,
        headers: { 'User-Agent': `latitude/${VERSION}`, ...headers },
      });
      request.once('response', resolve).on('error', reject).end(body);
    });
  }

  /**
   * Finds the addresses of a host. Unlike `dns.lookup`, a query of the name servers blocks no thread of Node while a server
   * does not reply, and does not read the hosts file, which can contain names of private networks.
   * @returns an empty list if the host has no address
   */
  async resolve(host: string, allowPrivate: boolean): Promise<LookupAddress[]> {
    if (allowPrivate) return dns.lookup(host, { all: true }).catch(() => []);
    const found = await Promise.all([
      NAME_SERVERS.resolve4(host).catch(() => []),
      NAME_SERVERS.resolve6(host).catch(() => []),
    ]);
    return found.flat().map((address) => ({ address, family: isIP(address) }));
  }

  private async allowedAddressesOf(host: string, allowPrivate: boolean): Promise<LookupAddress[]> {
    const addresses = await this.resolve(host, allowPrivate);
    if (addresses.length === 0) throw new AddressError('The host has no address.');
    const arePublic = addresses.every(({ address }) => isPublicAddress(address));
    if (arePublic || allowPrivate) return addresses;
    throw new AddressError(NOT_PUBLIC);
  }
}

/** Reads the start of a response and ends the connection. A response that is cut off keeps the part that arrived. */
export async function readStart(response: http.IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= maxBytes) break;
    }
  } catch {
    // The part that arrived is kept.
  }
  return Buffer.concat(chunks).subarray(0, maxBytes);
}
