import { Page } from '../../components/page.js';
import { navigate } from '../../state/router.js';
import { texts } from '../../texts.js';
import { LeadForm } from './lead-form.js';

export function NewLeadPage() {
  return (
    <Page title={texts.leads.create}>
      <div class="narrow">
        <LeadForm
          onSaved={({ id }) => {
            navigate(`leads/${id}`);
          }}
          onCancel={() => {
            navigate('leads');
          }}
        />
      </div>
    </Page>
  );
}
