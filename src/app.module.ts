import { Module } from '@nestjs/common';
import { appointmentsExtension } from './modules/appointments/appointments.extension.js';
import { eventsExtension } from './modules/events/events.extension.js';
import type { Extension } from './platform/extension/extension.js';
import { leadsExtension } from './modules/leads/leads.extension.js';
import { promptsExtension } from './modules/prompts/prompts.extension.js';
import { tasksExtension } from './modules/tasks/tasks.extension.js';
import { webhooksExtension } from './modules/webhooks/webhooks.extension.js';

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
