import type { ModulesContainer } from '@nestjs/core';
import { getDataSourceToken, TypeOrmModule } from '@nestjs/typeorm';

type Module = NonNullable<ReturnType<ModulesContainer['get']>>;

/**
 * Name of the data source whose statements run as the database user and read across organizations: those of background
 * work and of commands. docs/security.md lists its uses. A server sends them by `SystemDatabase`, because a
 * statement without a time limit would wait for ever if its connection was lost without notice.
 */
export const ADMINISTRATION = 'administration';

/** The name that TypeORM gives to a data source without one. */
const DEFAULT = 'default';

/**
 * Checks that no other module provides a data source with a name of Latitude's. One of the two would be injected
 * everywhere. Runs before the data sources connect.
 * @throws Error with the module, the name and the remedy
 */
export function assertOwnDataSourceNames(modules: ModulesContainer): void {
  for (const name of [DEFAULT, ADMINISTRATION]) {
    const token = getDataSourceToken(name) as never;
    // Latitude's modules come first.
    const [, other] = [...modules.values()].filter(({ exports }) => exports.has(token));
    if (!other) continue;
    throw new Error(
      `${importerOf(other, modules)} imports TypeOrmModule with the data source "${name}", which is one of Latitude. Give it another name, such as TypeOrmModule.forRoot({ name: 'reports', ... }), and use @InjectDataSource('reports').`,
    );
  }
}

/** Returns the name of the module that imports the TypeOrmModule of a data source. */
function importerOf(dataSource: Module, modules: ModulesContainer): string {
  const all = [...modules.values()];
  // The first import of a TypeOrmModule is its own. Others are global modules.
  const isOfDataSource = ({ metatype, imports }: Module) =>
    metatype === TypeOrmModule && [...imports][0] === dataSource;
  const importer = all.find(({ imports }) => [...imports].some(isOfDataSource));
  return (importer ?? dataSource).name;
}
