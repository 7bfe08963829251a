import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * Whether the host of a URL is an address that is not public, or a name of this machine (RFC 6761), which name servers do
 * not know.
 */
export function hasPrivateHost(url: string): boolean {
  const host = new URL(url).hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(host) === 0 ? /(^|\.)localhost\.?$/.test(host) : !isPublicAddress(host);
}

/** Where virtual machines of Azure reach its platform. It is in the range of public addresses. */
const AZURE_PLATFORM = '168.63.129.16';

/** All public IPv6 addresses. Others embed IPv4 addresses, such as ::10.0.0.1, or are not assigned. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Whether an address is public. Addresses of private networks, of this machine, of a link, of carriers and of
 * cloud metadata are not public. Neither are those that embed other addresses, as in NAT64 and 6to4.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  // A mapped address, such as ::ffff:10.0.0.1, becomes the IPv4 address.
  const parsed = ipaddr.process(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed instanceof ipaddr.IPv6
    ? parsed.match(GLOBAL_UNICAST)
    : parsed.toString() !== AZURE_PLATFORM;
}
