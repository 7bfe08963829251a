import { defineExtension } from '../../platform/extension/extension.js';
import { TasksModule } from './tasks.module.js';
import { Task } from './task.entity.js';

export const tasksExtension = defineExtension({
  name: 'tasks',
  module: TasksModule,
  scopes: ['tasks:read', 'tasks:write'],
  entities: [Task],
});
