import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { texts } from '../texts.js';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A modal dialog. It is open while it is rendered. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const element = dialog.current;
    const { activeElement: opener } = document;
    element?.showModal();
    return () => {
      element?.close();
      const next = opener?.isConnected ? opener : document.querySelector('h1');
      (next as HTMLElement | null)?.focus();
    };
  }, []);
  const onCancel = (event: Event) => {
    event.preventDefault();
    onClose();
  };
  return (
    <dialog ref={dialog} aria-labelledby={id} onCancel={onCancel}>
      <div class="title">
        <h2 id={id}>{title}</h2>
        <button type="button" class="quiet" onClick={onClose}>
          {texts.form.close}
        </button>
      </div>
      {children}
    </dialog>
  );
}
