import dns from 'node:dns/promises';
import { Injectable } from '@nestjs/common';

/** An address of a host. */
export interface HostAddress {
  readonly address: string;
  readonly family: number;
}

const DNS_TIMEOUT = { timeout: 3_000, tries: 2 };

/** Finds the addresses of hosts. */
@Injectable()
export class HostResolver {
  private readonly resolver = new dns.Resolver(DNS_TIMEOUT);

  /**
   * Asks the name servers. Unlike `dns.lookup`, this occupies no thread of Node while a server does not
   * reply, and it reads no names of private networks from the hosts file.
   * @returns an empty list if the host has no address
   */
  async resolve(host: string): Promise<HostAddress[]> {
    const [four, six] = await Promise.allSettled([
      this.resolver.resolve4(host),
      this.resolver.resolve6(host),
    ]);
    const of = (family: number, found: PromiseSettledResult<string[]>) =>
      found.status === 'fulfilled' ? found.value.map((address) => ({ address, family })) : [];
    return [...of(4, four), ...of(6, six)];
  }

  /** Finds names as other programs do, including those of the hosts file. */
  resolveLocally(host: string): Promise<HostAddress[]> {
    return dns.lookup(host, { all: true }).catch(() => []);
  }
}
