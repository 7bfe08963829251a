import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Whether a string is the URL of a receiver: absolute, with http or https, without user and password. */
export function isTargetUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, hostname } = new URL(text);
  return /^https?:$/.test(protocol) && username === '' && password === '' && hostname !== '';
}

/** The IP address in the host of a URL; undefined if the host is a name. */
export function addressOf(url: string): string | undefined {
  const host = new URL(url).hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(host) === 0 ? undefined : host;
}

/**
 * Whether an address is public. Addresses of private networks, of this machine, of a link, of carriers and of
 * cloud metadata are not public. Neither are those that embed other addresses, as in NAT64 and 6to4.
 */
export function isPublicAddress(address: string): boolean {
  // A mapped address, such as ::ffff:10.0.0.1, becomes the IPv4 address.
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'unicast';
}
