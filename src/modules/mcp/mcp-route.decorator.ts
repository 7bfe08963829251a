import type { IncomingHttpHeaders } from 'node:http';
import type { Settings } from '../../platform/config/settings.js';
import { ApiError } from '../../platform/errors/api-error.js';
import { declareRoute } from '../../platform/http/routes/route-declarations.js';

/** Declares a handler of /mcp. It reads the request, counts it and writes the response itself, as with `@RawRoute()`. */
export const McpRoute = () =>
  declareRoute({ access: 'raw', endpoint: { refusalOf: refusalOfOrigin, hintAt } });

const LOOPBACK = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

/** Protects /mcp against DNS rebinding (docs/contract/mcp.md#origin). */
function refusalOfOrigin(
  { origin }: IncomingHttpHeaders,
  { mcpAllowedOrigins: allowed }: Settings,
): ApiError | undefined {
  if (origin === undefined || allowed.includes(origin)) return undefined;
  if (allowed.includes('loopback') && LOOPBACK.test(origin)) return undefined;
  return new ApiError('origin_not_allowed');
}

/**
 * The paths at which MCP clients look for OAuth after a 401. Several clients show the response to the last
 * of these requests instead of the 401 itself.
 */
const OAUTH_PATHS = /^\/(register|authorize|token|\.well-known\/(oauth-|openid-configuration).*)$/;
const NO_OAUTH =
  'Sign-in by OAuth is switched off. The API key in the Authorization header is missing, invalid or expired: check it.';

function hintAt(path: string, { oauth, oauthIssuer }: Settings): string | undefined {
  return !oauth && oauthIssuer === undefined && OAUTH_PATHS.test(path) ? NO_OAUTH : undefined;
}
