import { Fragment } from 'preact';
import { LeadLink } from '../components/lead-link.js';
import { ForeignLink } from '../components/link.js';
import { Value } from '../components/text.js';
import { Time } from '../components/time.js';
import type { FieldSpec } from './kinds.js';
import { valueOf } from './values.js';

interface DetailsProps {
  readonly fields: readonly FieldSpec[];
  readonly record: object;
}

/** The values of a record with their labels. */
export function Details({ fields, record }: DetailsProps) {
  return (
    <dl>
      {fields.map((spec) => (
        <Fragment key={spec.name}>
          <dt dir="auto">{spec.label}</dt>
          <dd>
            <FieldValue spec={spec} value={valueOf(record, spec.name)} />
          </dd>
        </Fragment>
      ))}
    </dl>
  );
}

const SCHEMES: Readonly<Record<string, string>> = { email: 'mailto:', tel: 'tel:', url: '' };

interface FieldValueProps {
  readonly spec: FieldSpec;
  readonly value: unknown;
  /** Without links. */
  readonly isPlain?: boolean;
}

/** A value as its field shows it. */
export function FieldValue({ spec, value, isPlain = false }: FieldValueProps) {
  const { kind, options = [], conversion } = spec;
  const labelOf = (text: unknown) => options.find((each) => each.value === text)?.label ?? text;
  const scheme = SCHEMES[kind] ?? (/^https?:\/\/\S+$/i.test(String(value)) ? '' : undefined);
  if (conversion) return <Value value={conversion.toRaw(value)} />;
  if (typeof value !== 'string' || value === '') {
    return <Value value={Array.isArray(value) ? value.map(labelOf) : value} />;
  }
  if (kind === 'time' && !Number.isNaN(Date.parse(value))) return <Time value={value} />;
  if (isPlain) return <Value value={labelOf(value)} />;
  if (kind === 'lead') return <LeadLink id={value} />;
  if (scheme !== undefined) return <ForeignLink href={scheme + value}>{value}</ForeignLink>;
  return <Value value={labelOf(value)} />;
}
