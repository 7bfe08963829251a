import type { ApiError } from '../../platform/errors/api-error.js';

/** Descriptions of oidc-provider, as people read them who have done nothing wrong. */
const PLAIN_WORDS: Readonly<Record<string, string>> = {
  'client is invalid':
    'Latitude does not know this application. It has not registered, or its registration has ended: remove the connection in the application, and add it again.',
  'client_id metadata document fetch failed':
    'Latitude could not read the description of this application, which must be at a public address.',
  'client is not allowed':
    'The description of this application lacks its name, or the addresses to which it returns.',
  "redirect_uri did not match any of the client's registered redirect_uris":
    'This application wants to return to an address that it has not registered.',
};

/** @param description that of an error of oidc-provider. Others are for the developer of the application. */
export function inPlainWords(description: string): string {
  return PLAIN_WORDS[description] ?? description;
}

/** What the page says about an error of Latitude. */
export function pageProblemOf({ status, message, headers }: ApiError): string {
  const seconds = headers['Retry-After'] ?? 'a few';
  if (status === 429) {
    return `Too many requests came from your network. Wait ${seconds} seconds before you try again.`;
  }
  return status >= 500 ? `Latitude is not available. Try again in ${seconds} seconds.` : message;
}

/** An error of Latitude as one of OAuth (RFC 6749, section 5.2). OAuth has no code of its own for a limit. */
export function oauthErrorOf({ status, message }: ApiError) {
  const isTemporary = status === 429 || status === 503;
  const ofStatus = status >= 500 ? 'server_error' : 'invalid_request';
  return { error: isTemporary ? 'temporarily_unavailable' : ofStatus, error_description: message };
}
