import {
  type DynamicModule,
  Global,
  Inject,
  Module,
  type OnModuleInit,
  type Provider,
} from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { Extension, ExtensionProvider } from './extension.js';
import { ExtensionError } from './listed-extensions.js';
import type { ExtensionPoint } from './extension-point.js';

const POINTS = Symbol('extension points');

/** Provides the extension points to every module: what extensions declare, otherwise the defaults. */
@Global()
@Module({})
export class ExtensionPointsModule implements OnModuleInit {
  constructor(
    private readonly modules: ModulesContainer,
    @Inject(POINTS) private readonly points: readonly ExtensionPoint[],
  ) {}

  /** @throws Error if another module provides an extension point, because Latitude would not use it */
  onModuleInit(): void {
    for (const { name, metatype, providers } of this.modules.values()) {
      if (metatype === ExtensionPointsModule) continue;
      const point = this.points.find(({ token }) => providers.has(token));
      if (!point) continue;
      const list = point.isList ? 'adds or replaces' : 'replaces';
      throw new Error(
        `${name} provides ${point.token.name}, which Latitude uses only if an extension declares it in ${list}.`,
      );
    }
  }

  /** @throws ExtensionError that names the extension and the token */
  static of(points: readonly ExtensionPoint[], extensions: readonly Extension[]): DynamicModule {
    for (const extension of extensions) checkTokens(points, extension);
    const involved = extensions.filter(({ replaces, adds }) => replaces.length + adds.length > 0);
    return {
      module: ExtensionPointsModule,
      // The implementations can inject what the modules of their extensions export.
      imports: involved.map(({ module }) => module),
      providers: [
        ...points.flatMap((point) => providersOf(point, involved)),
        { provide: POINTS, useValue: points },
      ],
      exports: points.map(({ token }) => token),
    };
  }
}

function checkTokens(points: readonly ExtensionPoint[], { name, replaces, adds }: Extension): void {
  const check = (
    providers: readonly ExtensionProvider[],
    allowed: readonly ExtensionPoint[],
    problemOf: (token: string) => string,
  ) => {
    const wrong = providers.find(({ provide }) => allowed.every(({ token }) => token !== provide));
    if (!wrong) return;
    const names = allowed.map(({ token }) => token.name).join(', ') || 'none';
    throw new ExtensionError(
      `The extension ${name} ${problemOf(nameOf(wrong.provide))}: ${names}.`,
    );
  };
  check(replaces, points, (token) => {
    return `replaces ${token}, which cannot be replaced. The classes that can be replaced are`;
  });
  const lists = points.filter(({ isList }) => isList);
  check(adds, lists, (token) => {
    return `adds a provider to ${token}, which accepts no other providers. Providers can be added to`;
  });
}

/** @throws ExtensionError if several implementations replace one */
function providersOf(point: ExtensionPoint, extensions: readonly Extension[]): Provider[] {
  const { token, defaults, isList } = point;
  const isOfPoint = ({ provide }: ExtensionProvider) => provide === token;
  const owners = extensions.filter(({ replaces }) => replaces.some(isOfPoint));
  const [owner, other] = owners;
  const replacements = owner?.replaces.filter(isOfPoint) ?? [];
  if (owner && (other || (!isList && replacements.length > 1))) {
    const who = other
      ? `The extensions ${owner.name} and ${other.name} both replace`
      : `The extension ${owner.name} replaces`;
    throw new ExtensionError(`${who} ${token.name}${other ? '' : ' twice'}: keep one of them.`);
  }
  const chosen: readonly ExtensionProvider[] = owner
    ? replacements
    : defaults.map((useClass) => ({ provide: token, useClass }));
  if (!isList) return [...chosen];
  const additions = extensions.flatMap(({ adds }) => adds.filter(isOfPoint));
  const parts = [...chosen, ...additions].map((provider, index) => ({
    ...provider,
    provide: `${token.name} ${index + 1}`,
  }));
  const all = (...implementations: unknown[]) => implementations;
  return [
    ...parts,
    { provide: token, useFactory: all, inject: parts.map(({ provide }) => provide) },
  ];
}

function nameOf(token: ExtensionProvider['provide']): string {
  return typeof token === 'function' ? token.name : String(token);
}
