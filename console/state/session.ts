import { LatitudeClient, type LatitudeError, type Me } from 'latitude/client';
import { announce } from './announce.js';
import { forgetResponses, isKeyRefused, limits, observedFetch } from './connection.js';
import { forgetDrafts } from './drafts.js';
import { forgetResults } from './results.js';
import { API_URL } from './router.js';
import { Store, useStore } from './store.js';
import { texts } from '../texts.js';

/** A key that the service has accepted. */
export interface SignedIn {
  readonly client: LatitudeClient;
  readonly me: Me;
}

interface Session {
  readonly state: 'starting' | 'signed-out' | 'signed-in';
  readonly signedIn?: SignedIn;
  /** Why the key was not accepted. */
  readonly error?: LatitudeError;
}

/** Tabs of this console. Another console of the same origin, at another path, is not one of them. */
const NAME = `latitude.console ${API_URL}`;
const STORED = `${NAME} key`;

/** How long a new tab waits for the key of another one. */
const HANDOVER_MS = 150;
/** Attempts of a call; after a 429, the client waits as long as the service asks. */
const MAX_ATTEMPTS = 4;

type Message =
  { readonly type: 'ask' | 'sign-out' } | { readonly type: 'key'; readonly key: string };

const tabs = new BroadcastChannel(NAME);
const session = new Store<Session>({ state: 'starting' });

/** Only this variable and the session storage of the tab have the key. */
let key: string | undefined;

/** Whether another tab has sent its key. */
let isHandedOver = false;

export const useSession = (): Session => useStore(session);

/** The session of a view, which is shown only with a key. */
export function useSignedIn(): SignedIn {
  const { signedIn } = useStore(session);
  if (!signedIn) throw new Error('This view needs a key.');
  return signedIn;
}

/** Whether the key has a scope. What it may not do is not shown. */
export function useMay(): (scope: Me['scopes'][number]) => boolean {
  const { me } = useSignedIn();
  return (scope) => me.scopes.includes(scope);
}

/** Takes the key from the address, from this tab or from another tab. */
export function startSession(): void {
  addEventListener('hashchange', () => {
    const given = takeKeyFromAddress();
    if (given !== undefined) void signInByLink(given);
  });
  tabs.addEventListener('message', ({ data }: MessageEvent<Message>) => {
    receive(data);
  });
  const found = takeKeyFromAddress() ?? sessionStorage.getItem(STORED);
  if (found) {
    void signIn(found);
    return;
  }
  tabs.postMessage({ type: 'ask' } satisfies Message);
  setTimeout(() => {
    if (session.value.state === 'starting' && !isHandedOver) session.set({ state: 'signed-out' });
  }, HANDOVER_MS);
}

/** @returns the key that the address had. It is removed, so that it is neither seen nor copied with the address. */
function takeKeyFromAddress(): string | undefined {
  const [, given] = /^#key=(.+)$/.exec(location.hash) ?? [];
  if (location.hash !== '') history.replaceState(null, '', location.pathname + location.search);
  return given;
}

/** A link that is opened while somebody is signed in. Its key takes the place of the other one only if it is valid. */
async function signInByLink(given: string): Promise<void> {
  const error = await signIn(given);
  if (error && session.value.signedIn) announce(texts.signIn.invalidLink);
}

/** Accepts a key if the service does. The views stay, with what was typed, if it is one of the same organization. */
export async function signIn(given: string): Promise<LatitudeError | undefined> {
  const before = session.value;
  const wasRefused = isKeyRefused.value;
  const entered = given.trim();
  try {
    const options = { baseUrl: API_URL, apiKey: entered, fetch: observedFetch };
    const client = new LatitudeClient({ ...options, maxAttempts: MAX_ATTEMPTS });
    forgetResponses();
    const me = await client.me();
    if (before.signedIn && before.signedIn.me.organization.id !== me.organization.id) forget();
    key = entered;
    sessionStorage.setItem(STORED, key);
    isKeyRefused.set(false);
    session.set({ state: 'signed-in', signedIn: { client, me } });
    return undefined;
  } catch (error) {
    isKeyRefused.set(wasRefused);
    if (!before.signedIn) {
      keepForReload(entered, error as LatitudeError);
      session.set({ state: 'signed-out', error: error as LatitudeError });
    }
    return error as LatitudeError;
  }
}

/** A key that could not be tried stays in the tab. One that was refused does not. */
function keepForReload(tried: string, error: LatitudeError): void {
  if (error.retryable) sessionStorage.setItem(STORED, tried);
  else if (sessionStorage.getItem(STORED) === tried) sessionStorage.removeItem(STORED);
}

/** Forgets the key in all tabs. */
export function signOut(): void {
  tabs.postMessage({ type: 'sign-out' } satisfies Message);
  end();
}

function receive(message: Message): void {
  if (message.type === 'sign-out') end();
  if (message.type === 'ask' && key !== undefined && session.value.state === 'signed-in') {
    tabs.postMessage({ type: 'key', key } satisfies Message);
  }
  if (message.type === 'key' && session.value.state === 'starting' && !isHandedOver) {
    isHandedOver = true;
    void signIn(message.key);
  }
}

function end(): void {
  key = undefined;
  sessionStorage.removeItem(STORED);
  forget();
  session.set({ state: 'signed-out' });
}

function forget(): void {
  forgetDrafts();
  forgetResponses();
  forgetResults();
  limits.set({});
  isKeyRefused.set(false);
}
