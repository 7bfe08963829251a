import type { ComponentChildren } from 'preact';
import { navigate, type Query, urlOf } from '../state/router.js';

interface LinkProps {
  /** Relative to `/console/`. */
  readonly to: string;
  readonly query?: Query | undefined;
  readonly class?: string | undefined;
  readonly isCurrent?: boolean;
  readonly children: ComponentChildren;
}

/** A link to another view of the console. */
export function Link({ to, query, isCurrent = false, children, ...others }: LinkProps) {
  const onClick = (event: MouseEvent) => {
    const isPlain = !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
    if (!isPlain || event.button !== 0) return;
    event.preventDefault();
    navigate(to, query);
  };
  return (
    <a
      {...others}
      href={urlOf(to, query)}
      onClick={onClick}
      aria-current={isCurrent ? 'page' : undefined}
    >
      {children}
    </a>
  );
}

const SAFE = /^(https?|mailto|tel):/i;

/** Text of a record, which is a link only if it is an address that can do nothing but be opened. */
export function ForeignLink({ href, children }: { href: string; children: ComponentChildren }) {
  if (!SAFE.test(href) || !URL.canParse(href)) return <bdi>{children}</bdi>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      <bdi>{children}</bdi>
    </a>
  );
}
