import { defineExtension } from '../../platform/extension/extension.js';
import { McpModule } from './mcp.module.js';

/** Only the server has it. */
export const mcpExtension = defineExtension({
  name: 'mcp',
  module: McpModule,
  errors: {
    no_session: {
      status: 400,
      retryable: false,
      message: 'There is no such session. Open one by POSTing initialize.',
      advice: 'Send initialize without Mcp-Session-Id, then use the session id of the response.',
    },
    origin_not_allowed: {
      status: 403,
      retryable: false,
      message: 'Pages of this origin may not call /mcp.',
      advice: 'Add the origin to MCP_ALLOWED_ORIGINS.',
    },
    session_mismatch: {
      status: 403,
      retryable: false,
      message: 'The session belongs to another API key.',
      advice: 'Open a session of your own.',
    },
    too_many_sessions: {
      status: 503,
      retryable: true,
      message: 'The maximum number of sessions is open, of the service or of the key.',
      advice: 'Wait for the seconds in Retry-After, then send initialize again.',
    },
  },
});
