import type { APP_INTERCEPTOR, APP_PIPE, ModulesContainer } from '@nestjs/core';

/**
 * Returns the global interceptors or pipes that modules provide. Nest adds a suffix to their token, so that there can be
 * several. The instance of a request-scoped class has only its prototype.
 */
export function globalEnhancers(
  modules: ModulesContainer,
  token: typeof APP_INTERCEPTOR | typeof APP_PIPE,
): unknown[] {
  return [...modules.values()]
    .flatMap(({ providers, injectables }) => [...providers.values(), ...injectables.values()])
    .filter((provider) => String(provider.token).startsWith(token))
    .map(({ instance }) => instance);
}
