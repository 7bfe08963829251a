import { logger } from '../../platform/config/logger.js';
import type { Settings } from '../../platform/config/settings.js';

/** Logs where the service can be reached. */
export function logAddresses(url: string, { docs }: Settings): void {
  logger.info(`Latitude listens on ${url}`);
  logger.info(`${docs ? `Reference: ${url}/docs. ` : ''}Address for AI agents: ${url}/mcp`);
}
