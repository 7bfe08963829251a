import { defineExtension } from '../../platform/extension/extension.js';
import { Resource } from './resource.entity.js';
import { ResourcesModule } from './resources.module.js';

export const resourcesExtension = defineExtension({
  name: 'resources',
  module: ResourcesModule,
  scopes: ['resources:write'],
  entities: [Resource],
});
