import type { JSX } from 'preact';
import { navigate, type Query, urlOf } from '../state/router.js';
import { texts } from '../texts.js';
import { Link } from './link.js';

/** A number, and the list that it counts. */
export interface Bar {
  readonly label: string;
  readonly count: number;
  readonly to: string;
  readonly query?: Query;
}

interface BarsProps {
  /** Names the picture and its table. */
  readonly caption: string;
  /** What the bars stand for, such as `Day`. */
  readonly label: string;
  readonly bars: readonly Bar[];
}

const WIDTH = 10;
const HEIGHT = 100;

/** Bars side by side, such as one for each day. The same numbers are in a table. */
export function BarPicture({ caption, label, bars }: BarsProps) {
  const most = Math.max(1, ...bars.map(({ count }) => count));
  const [first] = bars;
  const last = bars.at(-1);
  return (
    <figure>
      <svg
        class="bars"
        viewBox={`0 0 ${bars.length * WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        {bars.map((bar, index) => (
          <BarLink key={bar.label} bar={bar}>
            <title>{`${bar.label}: ${bar.count}`}</title>
            <rect class="area" x={index * WIDTH} y={0} width={WIDTH} height={HEIGHT} />
            <rect
              x={index * WIDTH + 1}
              y={HEIGHT - (bar.count / most) * HEIGHT}
              width={WIDTH - 2}
              height={(bar.count / most) * HEIGHT}
            />
          </BarLink>
        ))}
      </svg>
      <figcaption class="title hint">
        <span>{first?.label}</span>
        <span>{last?.label}</span>
      </figcaption>
      <details>
        <summary>{texts.data.asTable}</summary>
        <BarTable caption={caption} label={label} bars={bars} />
      </details>
    </figure>
  );
}

/** The keyboard uses the links of the table. */
function BarLink({ bar, children }: { bar: Bar; children: JSX.Element | JSX.Element[] }) {
  return (
    <a
      href={urlOf(bar.to, bar.query)}
      tabindex={-1}
      onClick={(event: MouseEvent) => {
        event.preventDefault();
        navigate(bar.to, bar.query);
      }}
    >
      {children}
    </a>
  );
}

/** Numbers with bars, each in a row. */
export function BarTable({ caption, label, bars }: BarsProps) {
  const most = Math.max(1, ...bars.map(({ count }) => count));
  return (
    <table>
      <caption class="hidden">{caption}</caption>
      <thead>
        <tr>
          <th scope="col">{label}</th>
          <th scope="col" class="number">
            {texts.data.count}
          </th>
        </tr>
      </thead>
      <tbody>
        {bars.map((bar) => (
          <tr key={bar.label}>
            <td>
              <Link to={bar.to} query={bar.query}>
                <bdi>{bar.label}</bdi>
              </Link>
              <svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
                <rect width={(bar.count / most) * 100} height={1} />
              </svg>
            </td>
            <td class="number">{bar.count.toLocaleString('en')}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
