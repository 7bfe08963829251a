import { defineExtension } from '../../platform/extension/extension.js';
import { PersonalDataModule } from './personal-data.module.js';

export const personalDataExtension = defineExtension({
  name: 'personal-data',
  module: PersonalDataModule,
  scopes: ['leads:erase'],
  explicitScopes: ['leads:erase'],
});
