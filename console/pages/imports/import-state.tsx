import type { LeadImport } from 'latitude/client';
import { useEffect } from 'preact/hooks';
import { ConfirmButton } from '../../components/confirm-button.js';
import { Loaded } from '../../components/loaded.js';
import { Text } from '../../components/text.js';
import { Time } from '../../components/time.js';
import { type Result, useQuery } from '../../state/query.js';
import { useMay, useSignedIn } from '../../state/session.js';
import { texts } from '../../texts.js';

const words = texts.imports;

/** How often an import that runs is read again. */
const REFRESH_MS = 2_000;

const COUNTS = ['created', 'updated', 'unchanged', 'rejected'] as const;

/** An import, which is read again until it has ended. */
export function useImport(id: string): Result<LeadImport> {
  const result = useQuery(`import ${id}`, (client, signal) =>
    client.leads.imports.get(id, { signal }),
  );
  const { data, reload } = result;
  useEffect(() => {
    if (data?.ended_at !== null) return undefined;
    const timer = setTimeout(reload, REFRESH_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [data]);
  return result;
}

/** How far an import is, and what became of its lines. */
export function ImportState({ of }: { of: Result<LeadImport> }) {
  const { client } = useSignedIn();
  const mayWrite = useMay()('leads:write');
  return (
    <Loaded of={of}>
      {(one) => (
        <>
          <p role="status">
            {words.statuses[one.status]}
            {one.ended_at !== null && <Time value={one.ended_at} isAgo />}
          </p>
          <progress
            aria-label={words.progress}
            max={Math.max(1, one.lines)}
            value={one.ended_at === null ? one.processed : Math.max(1, one.lines)}
          />
          <dl>
            <dt>{words.lines}</dt>
            <dd>{words.done(one.processed, one.lines)}</dd>
            {COUNTS.map((name) => (
              <>
                <dt key={`${name} label`}>{words.counts[name]}</dt>
                <dd key={name}>{one[name].toLocaleString('en')}</dd>
              </>
            ))}
            {one.ignored_columns.length > 0 && (
              <>
                <dt>{words.ignored}</dt>
                <dd>
                  <Text value={one.ignored_columns.join(', ')} />
                </dd>
              </>
            )}
          </dl>
          {one.error !== null && (
            <p class="error">
              <Text value={one.error} />
            </p>
          )}
          {one.ended_at === null && mayWrite && (
            <ConfirmButton
              label={words.cancel}
              title={words.cancelTitle}
              text={words.cancelText}
              onConfirm={async () => {
                of.replace(await client.leads.imports.cancel(one.id));
              }}
            />
          )}
        </>
      )}
    </Loaded>
  );
}
