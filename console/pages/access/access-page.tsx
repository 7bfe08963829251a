import { useState } from 'preact/hooks';
import { Link } from '../../components/link.js';
import { Page } from '../../components/page.js';
import { Secret } from '../../components/secret.js';
import { useMay } from '../../state/session.js';
import { texts } from '../../texts.js';
import { Grants } from './grants.js';
import { Keys } from './keys.js';

/** Who can use the API: the keys of the organization, and the applications to which people have granted a part of one. */
export function AccessPage() {
  const mayWrite = useMay()('keys:write');
  const [successor, setSuccessor] = useState<string>();
  return (
    <Page
      title={texts.access.title}
      actions={
        mayWrite && (
          <Link to="access/new" class="button primary">
            {texts.access.create}
          </Link>
        )
      }
    >
      {successor !== undefined && <Secret title={texts.access.secret} value={successor} />}
      <Keys mayWrite={mayWrite} onRotated={setSuccessor} />
      <Grants mayWrite={mayWrite} />
    </Page>
  );
}
