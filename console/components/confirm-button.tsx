import type { LatitudeError } from 'latitude/client';
import { useState } from 'preact/hooks';
import { texts } from '../texts.js';
import { Dialog } from './dialog.js';
import { Failure } from './loaded.js';

interface ConfirmButtonProps {
  readonly label: string;
  /** The question. */
  readonly title: string;
  /** What follows. */
  readonly text: string;
  /** Rejects with a LatitudeError, which the dialog shows. */
  readonly onConfirm: () => Promise<unknown>;
}

/** A button whose action cannot easily be undone, so that it asks first. */
export function ConfirmButton({ label, title, text, onConfirm }: ConfirmButtonProps) {
  const [isOpen, setOpen] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<LatitudeError>();
  const close = () => {
    setOpen(false);
    setError(undefined);
  };
  const confirm = async () => {
    setBusy(true);
    try {
      await onConfirm();
      close();
    } catch (failure) {
      setError(failure as LatitudeError);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <button
        type="button"
        class="danger"
        onClick={() => {
          setOpen(true);
        }}
      >
        {label}
      </button>
      {isOpen && (
        <Dialog title={title} onClose={close}>
          <p>{text}</p>
          {error && <Failure error={error} />}
          <div class="actions">
            <button type="button" class="danger" disabled={isBusy} onClick={() => void confirm()}>
              {label}
            </button>
            <button type="button" onClick={close}>
              {texts.form.cancel}
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}
