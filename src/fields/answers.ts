import { SetMetadata, type Type } from '@nestjs/common';
import type { ErrorCode } from '../errors/error-catalogue.js';
import type { Page } from '../listing/page.js';

/** Describes the response of a route: one record, or a page of records. */
export interface ResponseDescription {
  /** Summary of the operation. */
  readonly summary: string;
  readonly dto: Type<object>;
  readonly isPage: boolean;
  /** Description of the operation, in addition to the summary. */
  readonly description?: string;
  /** Additional error codes of this route, beside those of authentication, path and body. */
  readonly errors?: readonly ErrorCode[];
}

/** The tag of a group of routes: its name and a sentence. */
export interface Topic {
  readonly name: string;
  readonly description: string;
}

export const RESPONSE_DESCRIPTION = Symbol('answer');
export const TOPIC = Symbol('topic');

/** A decorator of handlers that return a `T` or a promise of it. */
export type HandlerDecorator<T> = <H extends (...args: never[]) => T | Promise<T>>(
  target: object,
  name: string | symbol,
  handler: TypedPropertyDescriptor<H>,
) => void;

type AnswerOptions = Pick<ResponseDescription, 'description' | 'errors'>;

/**
 * Declares the response of a route: a record of this DTO or, in brackets, a page of them. The compiler
 * checks the handler, and the OpenAPI document contains the schema.
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

/** Sets the tag of the routes of a controller. */
export function About(name: string, description: string): ClassDecorator {
  return SetMetadata<symbol, Topic>(TOPIC, { name, description });
}
