import type uPlot from 'uplot';
import { percent } from '../format/units';

export interface Values {
  label: string;
  /** A colour of CSS. */
  color: string;
  /** The value of a step; null where it has none. */
  at: (step: number) => number | null;
  /** What is compared with the others takes no part in their total. */
  compared: boolean;
}

interface Row {
  label: string;
  color?: string;
  text: string;
}

const most = 9;

/** What a step holds: the largest values with their shares, the rest in one row, the total, and what it is compared with. */
export function rowsOf(series: Values[], step: number, sums: boolean, write: (value: number) => string): Row[] {
  const values = series.flatMap((one) => {
    const value = one.at(step);
    return value === null ? [] : [{ ...one, value }];
  });
  const parts = values.filter(({ compared }) => !compared).sort((a, b) => b.value - a.value);
  const total = parts.reduce((sum, { value }) => sum + value, 0);
  const adds = sums && parts.length > 1;
  const textOf = (value: number) => (adds && total > 0 ? `${write(value)} · ${percent(value / total)}` : write(value));
  const rows: Row[] = parts.slice(0, most).map(({ label, color, value }) => ({ label, color, text: textOf(value) }));
  const others = parts.slice(most);
  if (adds && others.length > 0) rows.push({ label: `${others.length} others`, text: textOf(others.reduce((sum, { value }) => sum + value, 0)) });
  if (adds) rows.push({ label: 'Total', text: write(total) });
  return [...rows, ...values.filter(({ compared }) => compared).map(({ label, color, value }) => ({ label, color, text: write(value) }))];
}

const element = (name: string, className: string, text = '') => Object.assign(document.createElement(name), { className, textContent: text });

/** Shows beside the pointer what the step under it holds. Those who cannot point read the table. */
export function tip(timeOf: (step: number) => string, rows: (step: number) => Row[]): uPlot.Plugin {
  const box = element('div', 'plot-tip');
  box.hidden = true;
  box.setAttribute('aria-hidden', 'true');
  let drawn: number | undefined;
  let isEmpty = true;
  const fill = (step: number) => {
    if (step === drawn) return;
    drawn = step;
    const shown = rows(step);
    isEmpty = shown.length === 0;
    box.replaceChildren(element('strong', '', timeOf(step)), ...shown.flatMap(({ label, color, text }) => {
      const mark = element('i', '');
      mark.style.background = color ?? 'none';
      return [mark, element('span', '', label), element('b', '', text)];
    }));
  };
  const move = (plot: uPlot) => {
    const { idx, left = -1, top = 0 } = plot.cursor;
    const isOver = idx !== null && idx !== undefined && left >= 0;
    if (isOver) fill(idx);
    box.hidden = !isOver || isEmpty;
    if (box.hidden) return;
    const room = plot.over.clientWidth - box.offsetWidth;
    const x = left + 14 > room ? left - 14 - box.offsetWidth : left + 14;
    box.style.translate = `${Math.max(0, Math.min(x, room))}px ${Math.max(0, top - box.offsetHeight / 2)}px`;
  };
  return { hooks: { init: (plot) => plot.over.append(box), setCursor: move } };
}
