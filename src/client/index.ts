export * from './errors.js';
export { LatitudeClient } from './latitude-client.js';
export { etagOf } from './resource.js';
export type * from './types.js';
