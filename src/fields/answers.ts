import { SetMetadata, type Type } from '@nestjs/common';
import type { ErrorCode } from '../errors/error-catalogue.js';
import type { Page } from '../listing/page.js';

/** What a route answers: one record, or a page of them. */
export interface ResponseDescription {
  /** What the route does, in a few words. */
  readonly summary: string;
  readonly dto: Type<object>;
  readonly isPage: boolean;
  /** What a caller must know beside the summary. */
  readonly description?: string;
  /** Errors of this route alone, beside those that its key, path and body bring. */
  readonly errors?: readonly ErrorCode[];
}

/** What a group of routes is about: its name and a sentence. */
export interface Topic {
  readonly name: string;
  readonly description: string;
}

export const RESPONSE_DESCRIPTION = Symbol('answer');
export const TOPIC = Symbol('topic');

/** Decorates handlers that return, or promise, a `T`. */
export type HandlerDecorator<T> = <H extends (...args: never[]) => T | Promise<T>>(
  target: object,
  name: string | symbol,
  handler: TypedPropertyDescriptor<H>,
) => void;

type AnswerOptions = Pick<ResponseDescription, 'description' | 'errors'>;

/**
 * The route answers a record of this DTO or, where it stands in brackets, a page of them. The
 * compiler holds the handler to it, and the OpenAPI document tells it.
 */
export function Answers<T extends object>(
  summary: string,
  dto: Type<T>,
  options?: AnswerOptions,
): HandlerDecorator<T>;
export function Answers<T extends object>(
  summary: string,
  page: readonly [Type<T>],
  options?: AnswerOptions,
): HandlerDecorator<Page<T>>;
export function Answers(
  summary: string,
  answered: Type<object> | readonly [Type<object>],
  options: AnswerOptions = {},
): HandlerDecorator<unknown> {
  const isPage = Array.isArray(answered);
  const [dto] = [answered].flat() as [Type<object>];
  return SetMetadata<symbol, ResponseDescription>(RESPONSE_DESCRIPTION, {
    summary,
    dto,
    isPage,
    ...options,
  });
}

/** The routes of a controller are about this. */
export function About(name: string, description: string): ClassDecorator {
  return SetMetadata<symbol, Topic>(TOPIC, { name, description });
}
