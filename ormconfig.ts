import 'reflect-metadata';
import path from 'node:path';
import { DataSource } from 'typeorm';
import { readSettings } from './src/platform/config/settings.js';
import { dataSourceOptions } from './src/platform/data/connection/data-source-options.js';
import { openDatabase } from './src/ops/open-database.js';

const database = await openDatabase(readSettings(), 'command');

/** What the command line of TypeORM works on: `npm run typeorm -- migration:show`. */
class CommandLineDataSource extends DataSource {
  override async destroy(): Promise<void> {
    await super.destroy();
    await database.close();
  }
}

export default new CommandLineDataSource({
  ...dataSourceOptions(database.target),
  entities: [path.join(import.meta.dirname, 'src/**/*.entity.{ts,js}')],
});
