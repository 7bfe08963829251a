import type { DiscoveryService } from '@nestjs/core';
import { decoratedMethods } from '../discovery/decorated-methods.js';
import { isGateway, MESSAGE_PATTERN } from '../discovery/nest-internals.js';

/**
 * Checks that all handlers of an application answer HTTP requests. Nest opens the ports of gateways before
 * `onModuleInit`, so this must run before the application is initialized.
 * @throws Error whose message has one line for each gateway and each method that handles messages
 */
export function assertOnlyHttp(discovery: DiscoveryService): void {
  const gateways = discovery
    .getProviders()
    .filter(({ metatype }) => metatype && isGateway(metatype))
    .map(
      ({ name }) =>
        `${name} is a @WebSocketGateway(), whose clients would connect without a key. Send events with @Sse(), or run the gateway as an application of its own.`,
    );
  const listeners = decoratedMethods(discovery, MESSAGE_PATTERN).map(
    ({ provider, name }) =>
      `${provider.name}.${name} has a @MessagePattern() or @EventPattern(), but nothing would call it, because the server has no microservice. Run the listener as an application of its own, which calls the API.`,
  );
  const faults = [...gateways, ...listeners];
  if (faults.length > 0) throw new Error(faults.join('\n'));
}
