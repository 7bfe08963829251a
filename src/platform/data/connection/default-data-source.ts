import type { ModulesContainer } from '@nestjs/core';
import { getDataSourceToken, TypeOrmModule } from '@nestjs/typeorm';

type Module = NonNullable<ReturnType<ModulesContainer['get']>>;

/**
 * Checks that no other module provides a data source without a name. One of the two would be injected everywhere. Runs
 * before the data source of Latitude connects.
 * @throws Error with the module and the remedy
 */
export function assertOnlyDefaultDataSource(modules: ModulesContainer): void {
  const token = getDataSourceToken() as never;
  // Latitude's modules come first.
  const [, other] = [...modules.values()].filter(({ exports }) => exports.has(token));
  if (!other) return;
  throw new Error(
    `${importerOf(other, modules)} imports TypeOrmModule with the data source "default", which is that of Latitude. Give it another name, such as TypeOrmModule.forRoot({ name: 'reports', ... }), and use @InjectDataSource('reports').`,
  );
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
