import 'reflect-metadata';
import { DataSource } from 'typeorm';
import { Appointment } from './src/appointments/appointment.entity.js';
import { ApiKey } from './src/auth/api-key.entity.js';
import { Organization } from './src/auth/organization.entity.js';
import { readSettings } from './src/config/settings.js';
import { dataSourceOptions } from './src/database/data-source-options.js';
import { openDatabase } from './src/database/open-database.js';
import { Lead } from './src/leads/lead.entity.js';
import { Task } from './src/tasks/task.entity.js';

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
  entities: [Organization, ApiKey, Lead, Appointment, Task],
});
