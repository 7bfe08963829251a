import { contractOf, createLead } from 'latitude/testing';
import { acmeExtension } from '../src/acme.extension.js';

contractOf(acmeExtension, {
  samples: {
    'POST /api/v1/notes': async ({ api }) => ({
      lead_id: (await createLead(api)).id,
      text: 'Call back',
    }),
  },
});
