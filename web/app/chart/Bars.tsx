import type { ReactNode } from 'react';
import { palette } from './Plot';

export interface Bar {
  label: ReactNode;
  /** The parts of the bar, in the order of the legend. */
  values: number[];
  text: ReactNode;
}

/** A ranking: one bar a row, drawn by the style sheet. */
export function Bars({ bars, legend = [], label }: { bars: Bar[]; legend?: string[]; label: string }) {
  const top = Math.max(...bars.map((bar) => total(bar.values)), 0);
  return (
    <>
      {legend.length > 1 && (
        <ul className="legend">
          {legend.map((name, i) => (
            <li key={name}>
              <i style={{ background: `var(${palette(i)})` }} />
              {name}
            </li>
          ))}
        </ul>
      )}
      <ol className="bars" aria-label={label}>
        {bars.map((bar, i) => (
          <li key={i}>
            <span className="bar-label">{bar.label}</span>
            <span className="bar-track" aria-hidden="true">
              {bar.values.map((value, j) => (
                <i key={j} style={{ width: `${top > 0 ? (value / top) * 100 : 0}%`, background: `var(${palette(j)})` }} />
              ))}
            </span>
            <span className="bar-value">{bar.text}</span>
          </li>
        ))}
      </ol>
    </>
  );
}

export const total = (values: number[]) => values.reduce((all, value) => all + value, 0);
