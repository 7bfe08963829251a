import { SetMetadata } from '@nestjs/common';

export const NO_BODY = Symbol('no body');

/**
 * Declares that a POST takes no fields: only an absent body and `{}` are accepted. Without it, the handler
 * can read the body itself, such as files.
 */
export const NoBody = (): MethodDecorator => SetMetadata(NO_BODY, true);

export function takesNoBody(handler: object): boolean {
  return Reflect.hasMetadata(NO_BODY, handler);
}
