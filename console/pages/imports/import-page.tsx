import { Link } from '../../components/link.js';
import { Page } from '../../components/page.js';
import { texts } from '../../texts.js';
import type { ViewProps } from '../../views.js';
import { ImportState, useImport } from './import-state.js';
import { RejectedLines } from './rejected-lines.js';

/** An import: its progress, and the lines that were rejected. */
export function ImportPage({ segments }: ViewProps) {
  const [, id = ''] = segments;
  const result = useImport(id);
  const { data } = result;
  const hasRejected = data && data.ended_at !== null && data.rejected > 0;
  return (
    <Page
      title={data?.dry_run ? texts.imports.checked : texts.imports.one}
      actions={<Link to="leads">{texts.imports.toLeads}</Link>}
    >
      <section class="card">
        <ImportState of={result} />
      </section>
      {hasRejected && <RejectedLines of={data} isReadOnly={data.dry_run} />}
    </Page>
  );
}
