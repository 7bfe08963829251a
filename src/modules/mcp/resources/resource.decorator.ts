import { SetMetadata } from '@nestjs/common';
import type { Scope } from '../../../platform/access/scopes.js';
import type { HandlerDecorator } from '../../../platform/discovery/handler-decorator.js';

/** A kind of record that agents can read by URI, such as `lead://{id}`. */
export interface ResourceKind {
  /** The URI scheme. */
  readonly name: string;
  /** A short name for people. */
  readonly title: string;
  /** A description for the agent. */
  readonly description: string;
  /** The scope that the key needs. Without it the kind is not listed. */
  readonly scope: Scope;
}

export const RESOURCE = Symbol('resource');

/** Marks a method that reads one record. It is called with the `Call` and the id. */
export function Resource(kind: ResourceKind): HandlerDecorator<object> {
  return SetMetadata<symbol, ResourceKind>(RESOURCE, kind);
}
