export * from './errors.js';
export { LatitudeClient } from './latitude-client.js';
export { etagOf } from './response.js';
export type {
  AppointmentFilter,
  CustomFieldCondition,
  LeadFilter,
  RelatedAppointmentFilter,
  RelatedLeadFilter,
  RelatedTaskFilter,
  TaskFilter,
} from './filters.js';
export type * from './types.js';
