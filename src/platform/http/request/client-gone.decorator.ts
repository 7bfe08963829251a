import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Response } from 'express';

/** Injects a signal that aborts when the client closes the connection before the response. */
export const ClientGone = createParamDecorator((_: unknown, context: ExecutionContext) => {
  const controller = new AbortController();
  context
    .switchToHttp()
    .getResponse<Response>()
    .once('close', () => {
      controller.abort();
    });
  return controller.signal;
});
