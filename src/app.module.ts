import { Module } from '@nestjs/common';
import { appointmentsExtension } from './appointments/appointments.extension.js';
import { eventsExtension } from './events/events.extension.js';
import type { Extension } from './extension/extension.js';
import { leadsExtension } from './leads/leads.extension.js';
import { promptsExtension } from './prompts/prompts.extension.js';
import { tasksExtension } from './tasks/tasks.extension.js';
import { webhooksExtension } from './webhooks/webhooks.extension.js';

/** The features of the product, declared as a team declares its extensions. */
export const FEATURES: readonly Extension[] = [
  leadsExtension,
  appointmentsExtension,
  tasksExtension,
  eventsExtension,
  webhooksExtension,
  promptsExtension,
];

@Module({ imports: FEATURES.map(({ module }) => module) })
export class AppModule {}
