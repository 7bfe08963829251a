import { namesOf } from '../../platform/fields/field.js';
import { CreateLeadDto, type LeadDto } from './lead.dto.js';
import type { LeadPreferences } from './lead-merge.dto.js';

type Unite<T> = (first: T, second: T) => T;
type Merged = Omit<LeadDto, 'id' | 'lead_score' | 'created_at' | 'updated_at'>;

/** How fields that keep the values of both leads unite them. The first lead takes precedence. */
const UNITED: { readonly [F in keyof Merged]?: Unite<Merged[F]> } = {
  tags: (first, second) => [...new Set([...first, ...second])],
  custom_fields: (first, second) => ({ ...second, ...first }),
  notes: (first, second) => [...new Set([first, second])].filter(Boolean).join('\n\n') || null,
  sms_opted_out: (first, second) => first || second,
  on_dnc_list: (first, second) => first || second,
};

/** The fields of a lead after another one was merged into it (docs/contract/merge.md#fields). */
export function mergedFields(target: LeadDto, source: LeadDto, prefer: LeadPreferences): Merged {
  const names = namesOf(CreateLeadDto) as (keyof Merged)[];
  const entries = names.map((name) => {
    const [first, second] = prefer[name] === 'source' ? [source, target] : [target, source];
    const unite = (UNITED[name] ?? firstGiven) as Unite<unknown>;
    return [name, unite(first[name], second[name])];
  });
  return Object.fromEntries(entries) as Merged;
}

function firstGiven<T>(first: T, second: T): T {
  return first ?? second;
}
