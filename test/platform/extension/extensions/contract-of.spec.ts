import { contractOf } from '../../../../src/testing/contract/contract-of.js';
import { createLead } from '../../../../src/testing/factories.js';
import { notesExtension } from './notes.extension.js';

contractOf(notesExtension, {
  samples: {
    'POST /api/v1/notes': async ({ api }) => ({
      lead_id: (await createLead(api)).id,
      text: 'Call back',
    }),
  },
});
