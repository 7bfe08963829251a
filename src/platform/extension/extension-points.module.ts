import { type DynamicModule, Global, Module, type Provider } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { Extension, ExtensionProvider } from './extension.js';
import { ExtensionError } from './extensions.js';
import type { ExtensionPoint } from './extension-point.js';
import { type ModuleImport, OverrideCheck } from './override-check.js';

/** Provides the extension points to every module: what extensions declare, otherwise the defaults. */
@Global()
@Module({})
export class ExtensionPointsModule {
  /**
   * @param ownModules the modules that Latitude consists of
   * @throws ExtensionError that names the extension and the token
   */
  static of(
    points: readonly ExtensionPoint[],
    extensions: readonly Extension[],
    ownModules: readonly ModuleImport[],
  ): DynamicModule {
    for (const extension of extensions) checkTokens(points, extension);
    const involved = extensions.filter(({ replaces, adds }) => replaces.length + adds.length > 0);
    return {
      module: ExtensionPointsModule,
      // The implementations can inject what the modules of their extensions export.
      imports: involved.map(({ module }) => module),
      providers: [
        ...points.flatMap((point) => providersOf(point, involved)),
        {
          provide: OverrideCheck,
          useFactory: (modules: ModulesContainer) => new OverrideCheck(modules, ownModules, points),
          inject: [ModulesContainer],
        },
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
