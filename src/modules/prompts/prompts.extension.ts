import { defineExtension } from '../../platform/extension/extension.js';
import { PromptsModule } from './prompts.module.js';

export const promptsExtension = defineExtension({ name: 'prompts', module: PromptsModule });
