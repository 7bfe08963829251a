import { isLoopback } from './loopback.js';

/** Browsers and clients of OAuth accept HTTP only from their own machine. */
export function isPublicUrl(text: string): boolean {
  return isSecureUrl(text) && new URL(text).origin === text;
}

export function isSecureUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return url.protocol === 'https:' || isLoopback(url);
}

export function isPostgresUrl(text: string): boolean {
  return /^postgres(ql)?:\/\//.test(text) && URL.canParse(text) && isPercentEncoded(text);
}

export function isRedisUrl(text: string): boolean {
  const isUrl = /^rediss?:\/\//.test(text) && URL.canParse(text) && isPercentEncoded(text);
  return isUrl && /^(\/\d*)?$/.test(new URL(text).pathname);
}

/** Checks the percent-encoding of a URL, because the driver decodes every part of it. */
function isPercentEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
