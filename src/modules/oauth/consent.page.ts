import { createHash } from 'node:crypto';
import { isLoopback } from '../../platform/config/loopback.js';
import type { GrantingKey } from './grants.repository.js';

const STYLE = `
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 34rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; line-height: 1.25; overflow-wrap: anywhere; }
p, li { overflow-wrap: anywhere; }
fieldset { border: 1px solid #8888; border-radius: 4px; margin: 1.5rem 0; padding: 0.75rem 1rem; }
legend, .label { font-weight: 600; }
.option { display: flex; gap: 0.5rem; padding: 0.25rem 0; }
input[type=password] { box-sizing: border-box; display: block; font: inherit; margin: 0.25rem 0; padding: 0.5rem; width: 100%; }
button { border: 1px solid #888; border-radius: 4px; cursor: pointer; font: inherit; margin: 0.5rem 0.5rem 0 0; padding: 0.5rem 1.25rem; }
button.first { background: #0b57d0; border-color: #0b57d0; color: #fff; }
h1:focus { outline: none; }
:focus-visible { outline: 3px solid #e8710a; outline-offset: 2px; }
.problem, .warning { border-left: 4px solid #d93025; padding-left: 0.75rem; }
.warning { border-color: #e8710a; }
`;

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** Browsers would apply `form-action` to each redirect after a form, also to those of the application. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${STYLE_HASH}'`,
  'img-src data:',
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

export const PAGE_HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  // Under `no-referrer`, browsers send forms without `Origin`.
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};

/** What a person is asked. */
export interface Consent {
  /** The URL of the metadata document of the client; undefined for a registered client. */
  readonly documentUrl: string | undefined;
  readonly clientName: string | undefined;
  readonly redirectUri: string;
  /** The scopes that the client asks for. */
  readonly scopes: readonly string[];
  /** Those of them that the client has named. A client that names none asks for all. */
  readonly namedScopes: readonly string[];
  /** The key that the person has pasted, with those of the requested scopes that it has. */
  readonly key?: GrantingKey;
  /** What was wrong with the form. */
  readonly problem?: string;
}

/** The page of an authorization: first it asks for a key, then for a part of its scopes. */
export function renderConsent(consent: Consent): string {
  const { key, problem } = consent;
  const isKeyWrong = problem !== undefined && key === undefined;
  const who = callerOf(consent);
  return page(
    `Connect ${who}`,
    `<h1 tabindex="-1"${isKeyWrong ? '' : ' autofocus'}>Connect <strong>${escape(who)}</strong> to Latitude?</h1>
    ${problem ? `<p class="problem" id="problem" role="alert">${escape(problem)}</p>` : ''}
    ${describeClient(consent)}
    <form method="post" autocomplete="off">
      ${key ? scopesForm(key, consent) : keyForm(consent.scopes, isKeyWrong)}
      <button name="action" value="refuse" formnovalidate>Refuse</button>
    </form>`,
  );
}

/** The page of an authorization that cannot continue. */
export function renderProblem(problem: string): string {
  return page(
    'Sign-in failed',
    `<h1 tabindex="-1" autofocus>Sign-in failed</h1>
    <p role="alert">${escape(problem)}</p>
    <p>Close this page and connect again from your application.</p>`,
  );
}

/** Who gets access: the host of the document or of the redirect, which a name cannot disguise. */
function callerOf({ documentUrl, redirectUri }: Consent): string {
  if (documentUrl !== undefined) return new URL(documentUrl).host;
  const url = new URL(redirectUri);
  if (isLoopback(url)) return 'a program on your computer';
  return url.host !== '' && url.protocol === 'https:'
    ? url.host
    : `an application for ${url.protocol} links`;
}

function describeClient({ documentUrl, clientName, redirectUri }: Consent): string {
  const url = new URL(redirectUri);
  const target = `<strong>${escape(url.protocol === 'https:' ? url.host : `${url.protocol}//${url.host}`)}</strong>`;
  const name = clientName === undefined ? 'no name' : `the name “${escape(clientName)}”`;
  const warning = isLoopback(url)
    ? '<p class="warning">Continue only if you have just started this sign-in yourself: any program on your computer can ask for it.</p>'
    : '';
  const source =
    documentUrl === undefined
      ? `It gives itself ${name}, which is unverified.`
      : `It is described at <strong>${escape(documentUrl)}</strong>, with ${name}.`;
  return `<p>${source} After your answer, your browser goes to ${target}.</p>${warning}`;
}

function keyForm(scopes: readonly string[], isWrong: boolean): string {
  const state = isWrong
    ? 'autofocus aria-invalid="true" aria-describedby="problem key-help"'
    : 'aria-describedby="key-help"';
  return `<p class="label" id="asks">It asks to:</p>
      <ul aria-labelledby="asks">${scopes.map((scope) => `<li>${escape(describeScope(scope))}</li>`).join('')}</ul>
      <label class="label" for="key">API key</label>
      <input id="key" name="key" type="password" required autocomplete="off" spellcheck="false" ${state}>
      <p id="key-help">Paste a key of your organization, which begins with lat_. The person who administers Latitude in your organization creates it for you, on the command line or over the API. The application does not get the key. On the next page you choose what to allow.</p>
      <button class="first" name="action" value="continue">Continue</button>`;
}

function scopesForm(key: GrantingKey, { namedScopes, problem }: Consent): string {
  const { name, organization_name, scopes, grant_expires_at: end } = key;
  const day = end.toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
  const state = problem === undefined ? '' : ' aria-invalid="true" aria-describedby="problem"';
  const options = scopes.map((scope) => {
    const isChecked = scope.endsWith(READING) || namedScopes.includes(scope);
    const input = `<input type="checkbox" name="scope" value="${escape(scope)}"${isChecked ? ' checked' : ''}${state}>`;
    return `<label class="option">${input} ${escape(describeScope(scope))}</label>`;
  });
  return `<p>Organization <strong>${escape(organization_name)}</strong>, key <strong>${escape(name)}</strong>.</p>
      <fieldset><legend>Allow it to</legend>${options.join('')}</fieldset>
      <p>The access ends on <time datetime="${end.toISOString()}">${day}</time>, or when the key ends or the grant is revoked.</p>
      <button class="first" name="action" value="grant">Grant access</button>
      <button name="action" value="restart">Use another key</button>`;
}

/** The end of scopes that change nothing. The page checks others beforehand only if the client has named them. */
const READING = ':read';

const VERBS: Readonly<Record<string, string>> = {
  read: 'Read',
  write: 'Create, change and delete',
};

/** A scope in words: `leads:read` is "Read leads". */
function describeScope(scope: string): string {
  const [subject = '', action = ''] = scope.split(':');
  const verb = VERBS[action];
  return verb === undefined ? scope : `${verb} ${subject.replaceAll(/[-_]/g, ' ')}`;
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${escape(title)} – Latitude</title>
    <link rel="icon" href="data:,">
    <style>${STYLE}</style>
  </head>
  <body>
    <main>
    ${body}
    </main>
  </body>
</html>
`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}
