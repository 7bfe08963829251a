import { defineExtension } from '../../platform/extension/extension.js';
import { TasksModule } from './tasks.module.js';
import { tasksTable } from './tasks.table.js';

export const tasksExtension = defineExtension({
  name: 'tasks',
  module: TasksModule,
  scopes: ['tasks:read', 'tasks:write'],
  tables: [tasksTable],
});

declare module '../../platform/config/registered-extensions.js' {
  interface RegisteredExtensions {
    tasks: typeof tasksExtension;
  }
}
