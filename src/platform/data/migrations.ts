// The migrations of Latitude; extensions have their own. TypeORM runs them in the order of the timestamps in their names.
// Numbers that are missing were never released.
export * from './migrations/1766016000000-baseline.js';
export * from './migrations/1766102400000-entity-manager-writes.js';
export * from './migrations/1766275200000-external-ids.js';
export * from './migrations/1766448000000-oauth.js';
export * from './migrations/1766534400000-keys-over-rest.js';
export * from './migrations/1766620800000-tags-folded.js';
export * from './migrations/1766620800003-counts-of-filters.js';
export * from './migrations/1766620800005-indexes-of-filters.js';
export * from './migrations/1766707200000-lead-imports.js';
export * from './migrations/1766707200001-bulk-deliveries.js';
export * from './migrations/1766793600000-merged-leads.js';
export * from './migrations/1766793600002-erasures.js';
export * from './migrations/1766880000000-cheaper-triggers.js';
export * from './migrations/1767000000300-time-zone-of-organizations.js';
export * from './migrations/1767000000301-lifetimes-of-keys.js';
export * from './migrations/1767000000302-scopes-of-responses.js';
export * from './migrations/1767000000400-lead-import-results.js';
export * from './migrations/1767000000500-organization-defaults.js';
export * from './migrations/1767000000303-suspended-organizations.js';
export * from './migrations/1767000000600-confirmations.js';
export * from './migrations/1767100000100-organizations-of-grants.js';
export * from './migrations/1767100000101-indexes-of-keys-and-grants.js';
export * from './migrations/1767100000102-keys-under-row-level-security.js';
export * from './migrations/1767100000103-foreign-keys-of-grants.js';
export * from './migrations/1767200000200-custom-fields.js';
