import type { Lead, LeadCreate } from 'latitude/client';
import { Link } from '../../components/link.js';
import { RecordForm } from '../../forms/record-form.js';
import { useSignedIn } from '../../state/session.js';
import { texts } from '../../texts.js';
import { customFieldSpecs, LEAD_FIELDS, useCustomFields } from './lead-fields.js';

interface LeadFormProps {
  /** Without it, a lead is created. */
  readonly lead?: Lead;
  readonly onSaved: (lead: Lead) => void;
  readonly onCancel: () => void;
}

/** Creates or changes a lead. */
export function LeadForm({ lead, onSaved, onCancel }: LeadFormProps) {
  const { leads } = useSignedIn().client;
  const definitions = useCustomFields();
  const id = lead?.id ?? '';
  return (
    <RecordForm<Lead>
      name={lead ? leadDraft(lead.id) : 'leads/new'}
      fields={[...LEAD_FIELDS, ...customFieldSpecs(definitions, lead)]}
      initial={{ source: 'manual' }}
      record={lead}
      create={(body, idempotencyKey) =>
        leads.create(body as unknown as LeadCreate, { idempotencyKey })
      }
      update={(body, ifMatch) => leads.update(id, body, { ifMatch })}
      read={() => leads.get(id)}
      existing={(other) => <Link to={`leads/${other}`}>{texts.leads.duplicate}</Link>}
      onSaved={onSaved}
      onCancel={onCancel}
    />
  );
}

export const leadDraft = (id: string) => `leads/${id}`;
