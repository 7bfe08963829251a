import { defineExtension } from '../../platform/extension/extension.js';
import { BusyTime } from './bookings/busy-time.entity.js';
import { Resource } from './resource.entity.js';
import { ResourcesModule } from './resources.module.js';

export const resourcesExtension = defineExtension({
  name: 'resources',
  module: ResourcesModule,
  scopes: ['resources:write'],
  errors: {
    resource_inactive: {
      status: 409,
      retryable: false,
      message: 'The resource cannot be booked, because it is not active.',
      advice: 'Choose another resource.',
    },
    slot_taken: {
      status: 409,
      retryable: false,
      message: 'The time is not free.',
      advice: 'Nothing was changed. Take one of the next free times, or offer them to the user.',
      example: {
        message: 'The time is not free.',
        details: [{ field: 'start_time', message: 'is not free' }],
      },
    },
    too_many_holds: {
      status: 409,
      retryable: false,
      message: 'The key has the maximum number of holds.',
      advice: 'Use or delete a hold first.',
    },
    outside_hours: {
      status: 422,
      retryable: false,
      message: 'The time is outside of the hours of the resource.',
      advice: 'Choose a time within the hours, or leave within_hours out.',
    },
  },
  entities: [Resource, BusyTime],
});
