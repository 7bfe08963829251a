import { addable, type ExtensionPoint, replaceable } from './platform/extension/extension-point.js';
import { TokenAuthenticator } from './platform/access/token-authenticator.js';
import { HealthIndicator } from './platform/http/health/health-indicator.js';
import {
  ComplianceRule,
  DoNotCallRule,
  OptOutRule,
} from './modules/leads/compliance/compliance-rule.js';
import { AnyCustomFields, CustomFieldsSchema } from './modules/leads/custom-fields-schema.js';
import {
  RateLimitPolicy,
  SettingsRateLimitPolicy,
} from './platform/access/limits/rate-limit-policy.js';
import { DefaultLeadScorer, LeadScorer } from './modules/leads/lead-scorer.js';

/** What extensions replace or add to (docs/guides/replace-and-add.md). */
export const EXTENSION_POINTS: readonly ExtensionPoint[] = [
  replaceable(LeadScorer, DefaultLeadScorer),
  replaceable(CustomFieldsSchema, AnyCustomFields),
  replaceable(RateLimitPolicy, SettingsRateLimitPolicy),
  addable(ComplianceRule, [OptOutRule, DoNotCallRule]),
  addable(HealthIndicator),
  addable(TokenAuthenticator),
];
