import { type ClientMetadata, errors } from 'oidc-provider';
import { isLoopback } from '../../platform/config/loopback.js';
import { codePointLength } from '../../platform/fields/kinds/text.js';

const MAX_NAME_LENGTH = 200;

const MAX_URI_LENGTH = 2_000;

/** Characters that change how the consent page shows the text around them: controls, and marks of bidirectional text. */
const MISLEADING = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/** The grants that clients can ask for. */
export const GRANT_TYPES: readonly string[] = ['authorization_code', 'refresh_token'];

/** @throws InvalidClientMetadata for a name that the consent page cannot show as it is */
export function checkClientName(name: unknown): void {
  if (name === undefined || name === null) return;
  const isValid =
    typeof name === 'string' && codePointLength(name) <= MAX_NAME_LENGTH && !MISLEADING.test(name);
  if (isValid) return;
  throw new errors.InvalidClientMetadata(
    `client_name must be at most ${MAX_NAME_LENGTH} characters without control characters`,
  );
}

/**
 * Schemes that a browser handles itself, that run a script, or that open no application. Others are those of applications,
 * such as `cursor:`.
 */
const REFUSED_SCHEMES: ReadonlySet<string> = new Set(
  [
    ...['about', 'blob', 'chrome', 'data', 'feed', 'file', 'filesystem', 'ftp', 'ftps', 'gopher'],
    ...['intent', 'jar', 'javascript', 'ldap', 'mailto', 'news', 'resource', 'sftp', 'sms', 'ssh'],
    ...['tel', 'telnet', 'urn', 'vbscript', 'view-source', 'ws', 'wss'],
  ].map((scheme) => `${scheme}:`),
);

/** A URL with a user and a password, which can be empty. Browsers also read others, such as `http:user@localhost`. */
const HAS_USER = /^[^/?#]*[/\\]{2}[^/\\?#]*@/;

/**
 * oidc-provider checks later whether there are redirects, and whether they are URIs.
 * @throws InvalidClientMetadata for a redirect that is too long, that leads to no application, or that goes over HTTP to
 *   another machine
 */
export function checkRedirectUris(uris: unknown): void {
  if (!Array.isArray(uris) || uris.every((uri) => isRedirectUri(String(uri)))) return;
  throw new errors.InvalidClientMetadata(
    `redirect_uris must be at most ${MAX_URI_LENGTH} characters long, with https, http for localhost only, or a scheme of an application, and without a user`,
  );
}

function isRedirectUri(uri: string): boolean {
  if (uri.length > MAX_URI_LENGTH || HAS_USER.test(uri)) return false;
  const url = URL.canParse(uri) ? new URL(uri) : undefined;
  if (!url) return true;
  if (url.username !== '' || url.password !== '') return false;
  return url.protocol === 'http:' ? isLoopback(url) : !REFUSED_SCHEMES.has(url.protocol);
}

/** What a registration or a document can set. */
const SUPPORTED = [
  'client_id',
  'client_id_issued_at',
  'client_name',
  'redirect_uris',
  'grant_types',
];

/**
 * Removes what the server does not support from the metadata of a client, and sets what all clients have in common: they are
 * public, and ask for scopes when they sign in. RFC 7591 allows this: the response to a registration has the stored values.
 * oidc-provider accepts only redirects over HTTPS for the type `web`; `native` may also use localhost and schemes of apps.
 */
export function keepSupported(metadata: ClientMetadata): void {
  const { redirect_uris, grant_types } = metadata;
  const isWeb = [redirect_uris].flat().every((uri) => String(uri).startsWith('https:'));
  const isList = Array.isArray(grant_types);
  // What is null means the same as absent.
  const others = Object.keys(metadata).filter(
    (name) => !SUPPORTED.includes(name) || metadata[name] === null,
  );
  for (const name of others) Reflect.deleteProperty(metadata, name);
  Object.assign(metadata, {
    application_type: isWeb ? 'web' : 'native',
    token_endpoint_auth_method: 'none',
    grant_types: GRANT_TYPES.filter((type) => !isList || grant_types.includes(type)),
  });
}
