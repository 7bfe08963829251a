import { LatitudeConnectionError, type LatitudeError } from 'latitude/client';
import type { ComponentChildren } from 'preact';
import type { Result } from '../state/query.js';
import { texts } from '../texts.js';

interface LoadedProps<T> {
  readonly of: Result<T>;
  readonly isEmpty?: (data: T) => boolean;
  /** What an empty list says. */
  readonly empty?: ComponentChildren;
  readonly children: (data: T) => ComponentChildren;
}

/** What was read, or why there is nothing: loading, empty, failed, refused or offline. */
export function Loaded<T>({ of, isEmpty, empty = texts.data.empty, children }: LoadedProps<T>) {
  const { data, error, isLoading, reload } = of;
  return (
    <div aria-busy={isLoading}>
      {error && <Failure error={error} onAgain={reload} />}
      {data === undefined && isLoading && <p class="hint">{texts.data.loading}</p>}
      {data !== undefined && (isEmpty?.(data) ? <p class="hint">{empty}</p> : children(data))}
    </div>
  );
}

interface FailureProps {
  readonly error: LatitudeError;
  readonly title?: string;
  readonly onAgain?: () => void;
  /** More about it. */
  readonly children?: ComponentChildren;
}

/** An error of the API, with the id that finds it in the log. */
export function Failure({ error, title = titleOf(error), onAgain, children }: FailureProps) {
  return (
    <div class="notice failed" role="alert">
      <p>
        <strong>{title}</strong> {error instanceof LatitudeConnectionError ? '' : error.message}
      </p>
      {children}
      {error.requestId && <p class="hint">{texts.data.requestId(error.requestId)}</p>}
      {onAgain && (
        <button type="button" onClick={onAgain}>
          {texts.data.again}
        </button>
      )}
    </div>
  );
}

function titleOf(error: LatitudeError): string {
  if (error instanceof LatitudeConnectionError) return texts.data.offline;
  return error.status === 403 ? texts.data.refused : texts.data.failed;
}
