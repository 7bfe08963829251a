import type { LeadMergePreview } from 'latitude/client';
import { useRef, useState } from 'preact/hooks';
import { ConfirmButton } from '../../components/confirm-button.js';
import { Link } from '../../components/link.js';
import { Loaded } from '../../components/loaded.js';
import { Page } from '../../components/page.js';
import { Field } from '../../forms/field.js';
import { announce } from '../../state/announce.js';
import { type Result, useQuery } from '../../state/query.js';
import { changeQuery, navigate, useRoute } from '../../state/router.js';
import { useSignedIn } from '../../state/session.js';
import { texts } from '../../texts.js';
import type { ViewProps } from '../../views.js';
import { MergeTable, type Prefer } from './merge-table.js';

/** Merges another lead into that of the address, after a look at what would happen. */
export function MergePage({ segments }: ViewProps) {
  const [, id = ''] = segments;
  const other = useRoute().query.get('with') ?? '';
  return (
    <Page title={texts.merge.title} actions={<Link to={`leads/${id}`}>{texts.merge.back}</Link>}>
      <p class="hint">{texts.merge.explanation}</p>
      {other === '' ? (
        <Field
          spec={{ name: 'with', label: texts.merge.other, kind: 'lead' }}
          value=""
          onChange={(chosen) => {
            changeQuery({ with: chosen as string });
          }}
        />
      ) : (
        <Merge key={other} id={id} other={other} />
      )}
    </Page>
  );
}

function Merge({ id, other }: { id: string; other: string }) {
  const { client } = useSignedIn();
  const [prefer, setPrefer] = useState<Prefer>({});
  const preview = usePreview(id, other, prefer);
  const merge = async () => {
    await client.leads.merge(id, { lead_id: other, prefer });
    announce(texts.merge.merged);
    navigate(`leads/${id}`);
  };
  return (
    <Loaded of={preview}>
      {(data) => (
        <>
          <MergeTable preview={data} prefer={prefer} onPrefer={setPrefer} />
          <p>{movesInWords(data)}</p>
          <div class="actions">
            {!preview.isLoading && !preview.error && (
              <ConfirmButton
                label={texts.merge.merge}
                title={texts.merge.confirmTitle}
                text={`${movesInWords(data)} ${texts.merge.confirmText}`}
                onConfirm={merge}
              />
            )}
            <Link to={`leads/${other}/merge`} query={{ with: id }} class="button">
              {texts.merge.swap}
            </Link>
            <button
              type="button"
              onClick={() => {
                changeQuery({ with: undefined });
              }}
            >
              {texts.merge.another}
            </button>
          </div>
        </>
      )}
    </Loaded>
  );
}

/** A dry run. While another one runs, the last one stays. */
function usePreview(id: string, other: string, prefer: Prefer): Result<LeadMergePreview> {
  const last = useRef<LeadMergePreview | undefined>(undefined);
  const name = `merge of ${other} into ${id} ${JSON.stringify(prefer)}`;
  const result = useQuery(name, (client, signal) =>
    client.leads.merge(id, { lead_id: other, prefer, dry_run: true }, { signal }),
  );
  last.current = result.data ?? last.current;
  return { ...result, data: last.current };
}

function movesInWords({ moves }: LeadMergePreview): string {
  const found = Object.entries(moves as Readonly<Record<string, number>>);
  const some = found
    .filter(([, count]) => count > 0)
    .map(([table, count]) => texts.merge.records[table]?.(count) ?? `${count} ${table}`);
  return some.length === 0
    ? texts.merge.movesNothing
    : texts.merge.moves(new Intl.ListFormat('en').format(some));
}
