import { Module } from '@nestjs/common';
import { CustomFieldsModule } from '../custom-fields/custom-fields.module.js';
import { EventsModule } from '../events/events.module.js';
import { TasksController } from './tasks.controller.js';
import { TasksRepository } from './tasks.repository.js';
import { TasksService } from './tasks.service.js';
import { TasksTools } from './tasks.tools.js';

@Module({
  imports: [CustomFieldsModule, EventsModule],
  controllers: [TasksController],
  providers: [TasksRepository, TasksService, TasksTools],
  exports: [TasksService],
})
export class TasksModule {}
