import { Module } from '@nestjs/common';
import { EventsModule } from '../events/events.module.js';
import { TasksController } from './tasks.controller.js';
import { TasksRepository } from './tasks.repository.js';
import { TasksService } from './tasks.service.js';
import { TasksTools } from './tasks.tools.js';

@Module({
  imports: [EventsModule],
  controllers: [TasksController],
  providers: [TasksRepository, TasksService, TasksTools],
  exports: [TasksService],
})
export class TasksModule {}
