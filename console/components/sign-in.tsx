import { LatitudeConnectionError, type LatitudeError } from 'latitude/client';
import { useState } from 'preact/hooks';
import { signIn } from '../state/session.js';
import { texts } from '../texts.js';

/** Asks for a key. */
export function SignInForm({ error: first }: { error?: LatitudeError | undefined }) {
  const [key, setKey] = useState('');
  const [error, setError] = useState(first);
  const [isBusy, setBusy] = useState(false);
  const onSubmit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setError(await signIn(key));
    setBusy(false);
  };
  return (
    <form class="sign-in" onSubmit={(event) => void onSubmit(event)}>
      <label>
        {texts.signIn.key}
        <input
          type="password"
          autoComplete="off"
          spellcheck={false}
          required
          value={key}
          onInput={({ currentTarget }) => {
            setKey(currentTarget.value);
          }}
        />
      </label>
      <button type="submit" class="primary" disabled={isBusy}>
        {texts.signIn.submit}
      </button>
      {error && (
        <p class="error" role="alert">
          {messageOf(error)}
        </p>
      )}
    </form>
  );
}

function messageOf(error: LatitudeError): string {
  if (error instanceof LatitudeConnectionError) return texts.data.offline;
  return error.status === undefined || error.status === 401 ? texts.signIn.invalid : error.message;
}
