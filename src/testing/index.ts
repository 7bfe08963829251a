/** The test kit for extensions of a team. Other files of the folder are internal. */
export { type Answer, ApiClient } from './api-client.js';
export { contractOf, type ContractOptions } from './contract/contract-of.js';
export type { Sample, Samples } from './contract/contract-routes.js';
export { createDatabase, dropDatabase, urlOf } from './databases.js';
export {
  buildLead,
  createLead,
  dataOf,
  errorOf,
  type ErrorBody,
  expectError,
  expectInvalid,
  getLead,
  type LeadRecord,
} from './factories.js';
export { McpHttpClient } from './mcp-client.js';
export { TestApp } from './test-app.js';
export { type Tenant, TestServer } from './test-server.js';
