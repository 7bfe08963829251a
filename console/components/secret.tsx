import { useState } from 'preact/hooks';
import { texts } from '../texts.js';

/** A secret that the service shows only once. */
export function Secret({ title, value }: { title: string; value: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(value);
    setCopied(true);
  };
  return (
    <div class="notice" role="status">
      <p>
        <strong>{title}</strong> {texts.secret.once}
      </p>
      <p>
        <code>{value}</code>
      </p>
      {/* Pages without TLS have no clipboard. */}
      {isSecureContext && (
        <button type="button" onClick={() => void copy()}>
          {isCopied ? texts.secret.copied : texts.secret.copy}
        </button>
      )}
    </div>
  );
}
