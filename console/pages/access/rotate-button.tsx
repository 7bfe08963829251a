import type { ApiKey, LatitudeError } from 'latitude/client';
import { useRef, useState } from 'preact/hooks';
import { Dialog } from '../../components/dialog.js';
import { Failure } from '../../components/loaded.js';
import { Field } from '../../forms/field.js';
import { signIn, useSignedIn } from '../../state/session.js';
import { texts } from '../../texts.js';

const OVERLAP = {
  name: 'overlap_seconds',
  label: texts.access.overlap,
  kind: 'choice',
  isRequired: true,
  hint: texts.access.overlapHint,
  options: Object.entries(texts.access.overlaps).map(([value, label]) => ({ value, label })),
} as const;

interface RotateButtonProps {
  readonly of: ApiKey;
  /** Called with the new key; undefined if a lost response had it. */
  readonly onRotated: (key: string | undefined) => void;
}

/** Replaces a key by a new one. The page goes on with the new one if it replaces the key of the person. */
export function RotateButton({ of: { id, name }, onRotated }: RotateButtonProps) {
  const { client, me } = useSignedIn();
  const [isOpen, setOpen] = useState(false);
  const [overlap, setOverlap] = useState('0');
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<LatitudeError>();
  const idempotencyKey = useRef('');
  const open = () => {
    idempotencyKey.current = crypto.getRandomValues(new Uint32Array(4)).join('-');
    setError(undefined);
    setOpen(true);
  };
  const rotate = async () => {
    setBusy(true);
    try {
      const options = { idempotencyKey: `${idempotencyKey.current}-${overlap}` };
      const { key } = await client.keys.rotate(id, { overlap_seconds: Number(overlap) }, options);
      if (id === me.key.id && key !== undefined) await signIn(key);
      setOpen(false);
      onRotated(key);
    } catch (failure) {
      setError(failure as LatitudeError);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <button type="button" onClick={open}>
        {texts.access.rotate}
      </button>
      {isOpen && (
        <Dialog
          title={texts.access.rotateTitle(name)}
          onClose={() => {
            setOpen(false);
          }}
        >
          <p>{texts.access.rotateText}</p>
          <Field
            spec={OVERLAP}
            value={overlap}
            onChange={(value) => {
              setOverlap(value as string);
            }}
          />
          {error && <Failure error={error} />}
          <button type="button" class="primary" disabled={isBusy} onClick={() => void rotate()}>
            {texts.access.rotate}
          </button>
        </Dialog>
      )}
    </>
  );
}
