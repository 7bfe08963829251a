import { defineExtension } from '../../platform/extension/extension.js';
import { addGrantCommands } from './grants.commands.js';
import { GrantsModule } from './grants.module.js';

/** Grants exist also while sign-in is off, so that they can be listed and revoked. */
export const grantsExtension = defineExtension({
  name: 'grants',
  module: GrantsModule,
  commands: [addGrantCommands],
});
