import { useRoute } from './state/router.js';
import { useMay, useSession } from './state/session.js';
import { SignInForm } from './components/sign-in.js';
import { Page } from './components/page.js';
import { Shell } from './shell.js';
import { Link } from './components/link.js';
import { texts } from './texts.js';
import { missingScopes, viewOf } from './views.js';

/** The sign-in, or the view of the address in the shell. */
export function App() {
  const { state, signedIn, error } = useSession();
  if (signedIn) {
    return (
      <Shell key={signedIn.me.organization.id}>
        <View />
      </Shell>
    );
  }
  return (
    <main id="content" class="narrow">
      <Page title={state === 'starting' ? texts.name : texts.signIn.title}>
        {state === 'starting' ? (
          <p class="hint">{texts.signIn.connecting}</p>
        ) : (
          <>
            <p>{texts.signIn.explanation}</p>
            <SignInForm error={error} />
          </>
        )}
      </Page>
    </main>
  );
}

function View() {
  const { segments } = useRoute();
  const may = useMay();
  const view = viewOf(segments);
  if (!view) {
    return (
      <Page title={texts.notFound}>
        <Link to="">{texts.toStart}</Link>
      </Page>
    );
  }
  const { component: Component } = view;
  const missing = missingScopes(view, may);
  if (missing.length > 0) return <Page title={texts.data.refused}>{missing.join(', ')}</Page>;
  return <Component key={segments.join('/')} segments={segments} />;
}
