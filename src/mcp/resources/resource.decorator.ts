import { SetMetadata } from '@nestjs/common';
import type { Scope } from '../../auth/scopes.js';
import type { HandlerDecorator } from '../../fields/answers.js';

/** A kind of record that agents can read by its address, such as `lead://{id}`. */
export interface ResourceKind {
  /** The scheme of its addresses. */
  readonly name: string;
  /** A few words for people. */
  readonly title: string;
  /** What it is, for the agent. */
  readonly description: string;
  /** What the key needs; without it the kind is not listed. */
  readonly scope: Scope;
}

export const RESOURCE = Symbol('resource');

/** The method reads one record by its address: it is called with the `Actor` and the id. */
export function Resource(kind: ResourceKind): HandlerDecorator<object> {
  return SetMetadata<symbol, ResourceKind>(RESOURCE, kind);
}
