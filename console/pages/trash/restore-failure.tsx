import type { LatitudeError } from 'latitude/client';
import { Link } from '../../components/link.js';
import { Failure } from '../../components/loaded.js';
import { texts } from '../../texts.js';

interface RestoreFailureProps {
  readonly error: LatitudeError;
  /** What the record is called. */
  readonly title: string;
}

/** Why a record was not restored, with links to the leads that are in the way. */
export function RestoreFailure({ error, title }: RestoreFailureProps) {
  return (
    <Failure error={error} title={texts.trash.failed(title)}>
      <ul>
        {error.details.map(({ field, message, existing_id: holder, merged_into: survivor }) => (
          <li key={field}>
            {error.code !== 'merged' && (
              <>
                <bdi>{labelOf(field)}</bdi> {message}.{' '}
              </>
            )}
            {holder && <Link to={`leads/${holder}`}>{texts.trash.holder}</Link>}
            {survivor && <Link to={`leads/${survivor}`}>{texts.trash.survivor}</Link>}
          </li>
        ))}
      </ul>
    </Failure>
  );
}

const labelOf = (field: string) =>
  (texts.leads.labels as Readonly<Record<string, string>>)[field] ?? field;
