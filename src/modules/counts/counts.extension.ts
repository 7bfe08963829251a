import { defineExtension } from '../../platform/extension/extension.js';
import { CountsModule } from './counts.module.js';

export const countsExtension = defineExtension({ name: 'counts', module: CountsModule });
