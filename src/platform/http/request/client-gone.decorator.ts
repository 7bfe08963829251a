import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { responseOf } from './api-request.js';

/** Injects a signal that aborts when the client closes the connection before the response. */
export const ClientGone = createParamDecorator((_: unknown, context: ExecutionContext) => {
  const controller = new AbortController();
  responseOf(context).once('close', () => {
    controller.abort();
  });
  return controller.signal;
});
