import type { LookupAddress } from 'node:dns';
import dns from 'node:dns/promises';
import { Injectable } from '@nestjs/common';

const DNS_TIMEOUT = { timeout: 3_000, tries: 2 };

/** Finds the addresses of hosts. */
@Injectable()
export class HostResolver {
  private readonly resolver = new dns.Resolver(DNS_TIMEOUT);

  /**
   * Queries the name servers. Unlike `dns.lookup`, this blocks no thread of Node while a server does not
   * reply, and it does not read the hosts file, which can contain names of private networks.
   * @returns an empty list if the host has no address
   */
  async resolve(host: string): Promise<LookupAddress[]> {
    const [four, six] = await Promise.allSettled([
      this.resolver.resolve4(host),
      this.resolver.resolve6(host),
    ]);
    const of = (family: number, found: PromiseSettledResult<string[]>) =>
      found.status === 'fulfilled' ? found.value.map((address) => ({ address, family })) : [];
    return [...of(4, four), ...of(6, six)];
  }

  /** Resolves a name as the operating system does, including names in the hosts file. */
  resolveLocally(host: string): Promise<LookupAddress[]> {
    return dns.lookup(host, { all: true }).catch(() => []);
  }
}
