import type {
  ClassProvider,
  DynamicModule,
  ExistingProvider,
  FactoryProvider,
  Type,
  ValueProvider,
} from '@nestjs/common';
import type { MigrationInterface } from 'typeorm';
import { declareScopes } from '../access/scopes.js';
import type { Setting } from '../config/setting.js';
import { type CatalogueEntry, declareErrors } from '../errors/error-catalogue.js';
import type { AddCommands } from './command.js';

/** A provider of Nest for a token that extensions can replace or add to. */
export type ExtensionProvider = ClassProvider | ExistingProvider | FactoryProvider | ValueProvider;

/** What an extension consists of. The server, the command line, the documents and the tests read it. */
export interface ExtensionManifest<S extends string, C extends string> {
  /** A unique name of lower-case letters, digits and hyphens, such as `acme-messages`. */
  readonly name: string;
  /** The versions of Latitude that the extension supports, as a semver range such as `^0.4`. */
  readonly compatibleWith?: string;
  readonly module: Type<unknown> | DynamicModule;
  /** Scopes of API keys, such as `messages:read` and `messages:write`. */
  readonly scopes?: readonly S[];
  /**
   * Those of the scopes that a key has only if they are named. `--scopes all` and first keys leave them out, and no
   * client of /mcp can be granted them.
   */
  readonly explicitScopes?: readonly NoInfer<S>[];
  /** Error codes for `ApiError`. */
  readonly errors?: Readonly<Record<C, CatalogueEntry>>;
  /** Environment variables by name. `@InjectSetting(name)` injects the value. */
  readonly settings?: Readonly<Record<string, Setting<unknown>>>;
  /**
   * Migrations in the order of execution. They run after those of Latitude and are recorded in a table
   * of the extension's own.
   */
  readonly migrations?: readonly Type<MigrationInterface>[];
  /** Classes with `@TenantEntity()`. Startup fails if the database does not match them. */
  readonly entities?: readonly Type<object>[];
  /** Commands of the command line. */
  readonly commands?: readonly AddCommands[];
  /** Implementations that apply instead of those of Latitude, such as a `LeadScorer`. */
  readonly replaces?: readonly ExtensionProvider[];
  /** Implementations that apply in addition to those of Latitude, such as a `ComplianceRule`. */
  readonly adds?: readonly ExtensionProvider[];
}

/** A manifest whose omitted lists are empty. */
export interface Extension<S extends string = string, C extends string = string> extends Required<
  Omit<ExtensionManifest<S, C>, 'compatibleWith'>
> {
  readonly compatibleWith: string;
}

/**
 * Declares an extension. Register its type once, so that decorators know its scopes and error codes:
 *
 * ```ts
 * declare module 'latitude' {
 *   interface RegisteredExtensions { 'acme-messages': typeof extension }
 * }
 * ```
 */
export function defineExtension<const S extends string = never, const C extends string = never>(
  manifest: ExtensionManifest<S, C>,
): Extension<S, C> {
  const extension: Extension<S, C> = {
    compatibleWith: '*',
    scopes: [],
    explicitScopes: [],
    errors: {} as Readonly<Record<C, CatalogueEntry>>,
    settings: {},
    migrations: [],
    entities: [],
    commands: [],
    replaces: [],
    adds: [],
    ...manifest,
  };
  declareScopes(extension.scopes, extension.explicitScopes);
  declareErrors(extension.errors);
  return extension;
}
