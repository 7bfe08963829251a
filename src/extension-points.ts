import { addable, type ExtensionPoint, replaceable } from './extension/extension-point.js';
import { TokenAuthenticator } from './auth/token-authenticator.js';
import { HealthIndicator } from './http/health/health-indicator.js';
import { ComplianceRule, DoNotCallRule, OptOutRule } from './leads/compliance/compliance-rule.js';
import { AnyCustomFields, CustomFieldsSchema } from './leads/custom-fields-schema.js';
import { RateLimitPolicy, SettingsRateLimitPolicy } from './rate-limit/rate-limit-policy.js';
import { DefaultLeadScorer, LeadScorer } from './leads/lead-scorer.js';

/** What extensions replace or add to (docs/guides/replace-and-add.md). */
export const EXTENSION_POINTS: readonly ExtensionPoint[] = [
  replaceable(LeadScorer, DefaultLeadScorer),
  replaceable(CustomFieldsSchema, AnyCustomFields),
  replaceable(RateLimitPolicy, SettingsRateLimitPolicy),
  addable(ComplianceRule, [OptOutRule, DoNotCallRule]),
  addable(HealthIndicator),
  addable(TokenAuthenticator),
];
