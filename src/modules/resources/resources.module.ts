import { Module } from '@nestjs/common';
import { EventsModule } from '../events/events.module.js';
import { ResourcesController } from './resources.controller.js';
import { ResourcesRepository } from './resources.repository.js';
import { ResourcesService } from './resources.service.js';

@Module({
  imports: [EventsModule],
  controllers: [ResourcesController],
  providers: [ResourcesRepository, ResourcesService],
  exports: [ResourcesService],
})
export class ResourcesModule {}
