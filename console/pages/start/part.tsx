import type { ComponentChildren } from 'preact';
import { Loaded } from '../../components/loaded.js';
import type { Result } from '../../state/query.js';

interface PartProps<T> {
  readonly title: string;
  readonly of: Result<T>;
  readonly isEmpty?: (data: T) => boolean;
  readonly empty?: string;
  readonly children: (data: T) => ComponentChildren;
}

/** One part of the start view. */
export function Part<T>({ title, ...loaded }: PartProps<T>) {
  return (
    <section class="card">
      <h2>{title}</h2>
      <Loaded {...loaded} />
    </section>
  );
}
