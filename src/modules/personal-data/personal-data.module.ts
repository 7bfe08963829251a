import { Module } from '@nestjs/common';
import { EventsModule } from '../events/events.module.js';
import { LeadsModule } from '../leads/leads.module.js';
import { TasksModule } from '../tasks/tasks.module.js';
import { ErasuresRepository } from './erasures.repository.js';
import { PersonalDataController } from './personal-data.controller.js';
import { PersonalDataService } from './personal-data.service.js';

@Module({
  imports: [EventsModule, LeadsModule, TasksModule],
  controllers: [PersonalDataController],
  providers: [PersonalDataService, ErasuresRepository],
})
export class PersonalDataModule {}
