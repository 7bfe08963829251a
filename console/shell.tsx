import type { ComponentChildren } from 'preact';
import { announcement } from './state/announce.js';
import { connection, isKeyRefused, limits } from './state/connection.js';
import { useRoute } from './state/router.js';
import { signOut, useMay, useSignedIn } from './state/session.js';
import { useStore } from './state/store.js';
import { texts } from './texts.js';
import { missingScopes, VIEWS } from './views.js';
import { Link } from './components/link.js';
import { SignInForm } from './components/sign-in.js';
import { clockTime, Time, ZONE } from './components/time.js';

/** What surrounds each view: head, navigation, notices and the live region. */
export function Shell({ children }: { children: ComponentChildren }) {
  return (
    <>
      <a class="skip" href="#content" onClick={skip}>
        {texts.skip}
      </a>
      <header>
        <Link to="" class="brand">
          {texts.name}
        </Link>
        <Navigation />
        <Account />
      </header>
      <Notices />
      <main id="content" tabIndex={-1}>
        {children}
      </main>
      <footer class="hint">{texts.zone(ZONE)}</footer>
      <LiveRegion />
    </>
  );
}

/** The address has no fragment, because a fragment can be a key. */
function skip(event: Event): void {
  event.preventDefault();
  document.getElementById('content')?.focus();
}

function Navigation() {
  const { segments } = useRoute();
  const may = useMay();
  const shown = VIEWS.filter((view) => view.label && missingScopes(view, may).length === 0);
  return (
    <nav aria-label={texts.navigation}>
      <ul>
        {shown.map(({ path, label }) => (
          <li key={path}>
            <Link to={path} isCurrent={path === (segments[0] ?? '')}>
              {label}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Account() {
  const { organization, key, expires_at, scopes } = useSignedIn().me;
  return (
    <details class="account">
      <summary>
        <bdi>{organization.name}</bdi> · <bdi>{key.name}</bdi>
        <span class="hidden"> {texts.head.account}</span>
      </summary>
      <dl>
        <dt>{texts.head.organization}</dt>
        <dd dir="auto">{organization.name}</dd>
        <dt>{texts.head.key}</dt>
        <dd dir="auto">{key.name}</dd>
        {expires_at !== null && (
          <>
            <dt>{texts.head.expires}</dt>
            <dd>
              <Time value={expires_at} />
            </dd>
          </>
        )}
        <dt>{texts.head.scopes}</dt>
        <dd>{scopes.join(', ')}</dd>
        <dt>{texts.head.limits}</dt>
        <dd>
          <Left />
        </dd>
      </dl>
      <button type="button" onClick={signOut}>
        {texts.head.signOut}
      </button>
    </details>
  );
}

/** What is left of the limits. */
function Left() {
  const { reads, writes } = useStore(limits);
  return (
    <>
      {reads && <div>{texts.head.reads(reads.remaining, reads.limit)}</div>}
      {writes && <div>{texts.head.writes(writes.remaining, writes.limit)}</div>}
    </>
  );
}

/** What holds up the whole page. */
function Notices() {
  const { state, until } = useStore(connection);
  return (
    <div role="status">
      {state === 'lost' && <p class="notice failed">{texts.connection.lost}</p>}
      {state === 'waiting' && until && (
        <p class="notice">{texts.connection.waiting(clockTime(until))}</p>
      )}
      {useStore(isKeyRefused) && (
        <div class="notice failed">
          <p>{texts.signIn.refused}</p>
          <SignInForm />
        </div>
      )}
    </div>
  );
}

function LiveRegion() {
  const { text } = useStore(announcement);
  return (
    <div class="announcement" role="status">
      {text}
    </div>
  );
}
