import { type RefObject, useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { bytes, count, scaleOf, short, useSystem } from '../format/units';
import { useTheme } from '../shell/theme';
import { rowsOf, tip } from './tip';

export interface Series {
  label: string;
  values: (number | null)[];
  /** What the legend shows instead of what is drawn, such as a part of a stack. */
  shown?: (number | null)[];
  /** A custom property of the style sheet, such as --series-1. */
  color?: string;
  kind?: 'line' | 'bars' | 'dashed';
}

/** Something that happened at a time, drawn as a line across the plot; what lasted, as a band. */
export interface Mark {
  at: number;
  until?: number;
  /** A custom property of the style sheet. */
  color: string;
}

interface Props {
  /** What the plot shows, for those who cannot see it. */
  label: string;
  times: number[];
  series: Series[];
  bytes: boolean;
  height?: number;
  timeZone: string;
  /** The times follow no steps: values are marked, and joined across the times of others. */
  events?: boolean;
  marks?: Mark[];
  /** Called with the step that was clicked. */
  onPick?: (step: number) => void;
  /** Called with the moment that something is to be pinned to, in milliseconds. */
  onPin?: (at: number) => void;
}

const noMarks: Mark[] = [];
const colorOf = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
export const palette = (i: number) => `--series-${(i % 8) + 1}`;

/** Series over time, from zero, with the values under the pointer beside it, and totals in the legend. Dragging zooms in. */
export function Plot({ label, times, series, bytes: inBytes, height = 240, timeZone, events = false, marks = noMarks, onPick, onPin }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const drawn = useRef<uPlot>(null);
  const [zoomed, setZoomed] = useState(false);
  const pick = useRef(onPick);
  pick.current = onPick;
  const marked = useRef(marks);
  marked.current = marks;
  const pin = useRef(onPin);
  pin.current = onPin;
  const theme = useTheme();
  const system = useSystem();
  useEffect(() => {
    const element = host.current!;
    const options = optionsOf({ series, inBytes, timeZone, height, width: element.clientWidth, times, events, marks: marked, onZoom: setZoomed, onPick: pick, onPin: pin });
    const plot = new uPlot(options, [times, ...series.map((one) => one.values)] as uPlot.AlignedData, element);
    drawn.current = plot;
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [times, series, inBytes, height, timeZone, events, theme, system]);
  useEffect(() => drawn.current?.redraw(false), [marks]);
  // By keyboard, the last moment of what is shown is offered, which the form changes.
  const pinLast = () => onPin?.(Math.min(Date.now(), (drawn.current?.scales.x?.max ?? times.at(-1) ?? 0) * 1000));
  const showAll = () => drawn.current?.setScale('x', { min: times[0]!, max: times.at(-1)! });
  return (
    <>
      <div className="plot" role="img" aria-label={label} ref={host} />
      <p className="plot-notes hint">
        <span>{events ? `Times in ${timeZone}.` : stepsOf(times, series, timeZone)}</span>
        {zoomed ? <button type="button" className="quiet" onClick={showAll}>Show the whole range</button> : canZoom(times) && <span>Drag over the plot to zoom in.</span>}
        {onPin && <span><button type="button" className="quiet" title="Or click on the plot with Shift held" onClick={pinLast}>Pin a note</button></span>}
      </p>
    </>
  );
}

const canZoom = (times: number[]) => times.length > 3;

/** Whose hours, days or months the steps are, and whether the last one with a value is over. */
function stepsOf(times: number[], series: Series[], timeZone: string): string {
  const step = stepOf(times);
  const noun = step < 86_000 ? 'hour' : step < 6 * 86_400 ? 'day' : step < 28 * 86_400 - 3_600 ? 'week' : 'month';
  return `By ${noun}, in ${timeZone}.${lastingOf(times, series) !== null ? ` The last ${noun} is not over yet.` : ''}`;
}

/** The last step with a value, while it is not over. */
function lastingOf(times: number[], series: Series[]): number | null {
  const last = times.findLastIndex((_, i) => series.some(({ kind, values }) => kind !== 'dashed' && values[i] !== null));
  const end = times[last + 1] ?? (times[last] ?? 0) + stepOf(times);
  return last >= 0 && end * 1000 > Date.now() ? last : null;
}

interface Drawing {
  series: Series[];
  inBytes: boolean;
  timeZone: string;
  height: number;
  width: number;
  times: number[];
  events: boolean;
  marks: RefObject<Mark[]>;
  onZoom: (zoomed: boolean) => void;
  onPick: RefObject<((step: number) => void) | undefined>;
  onPin: RefObject<((at: number) => void) | undefined>;
}

function optionsOf(d: Drawing): uPlot.Options {
  const grid = { stroke: colorOf('--line'), width: 1 };
  const axis = { stroke: colorOf('--muted'), font: '12px system-ui', grid, ticks: { show: false } };
  const write = (value: number) => (d.inBytes ? bytes(value) : count(value));
  const values = valuesOf(d);
  return {
    width: d.width,
    height: d.height,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), d.timeZone),
    cursor: { y: false, points: { size: 7 }, drag: { x: canZoom(d.times), y: false } },
    hooks: {
      setScale: [(plot, key) => key === 'x' && d.onZoom(isZoomed(plot, d.times))],
      draw: [(plot) => fadeLasting(plot, d), (plot) => drawMarks(plot, d.marks.current)],
      ready: [(plot) => pickBy(plot, d.onPick, d.onPin)],
    },
    scales: { x: { range: (_, min, max) => withRoom(min, max, d) }, y: { range: (_, __, max) => [0, max > 0 ? max * 1.08 : 1] } },
    axes: [
      { ...axis, grid: { show: false }, space: 64, size: stepOf(d.times) >= 86_000 ? 28 : 44, values: (_, splits) => timeLabels(splits, d.timeZone) },
      { ...axis, size: 66, gap: 8, splits: (_, __, ___, max) => splitsOf(max, d.inBytes), values: (_, splits) => axisLabels(splits, d.inBytes) },
    ],
    series: [{ label: 'Time', value: (_, at) => (at === null ? '' : timeLabel(at, d)) }, ...d.series.map((one, i) => seriesOptions(one, i, d, write))],
    legend: { live: true },
    plugins: [tip((step) => timeLabel(d.times[step]!, d), (step) => rowsOf(values, step, addsUp(d), write))],
  };
}

const valuesOf = (d: Drawing) => d.series.map((one, i) => ({
  label: one.label, color: colorOf(one.color ?? palette(i)), compared: one.kind === 'dashed', at: (step: number) => (one.shown ?? one.values)[step] ?? null,
}));

/** Volumes of steps add up; other values, such as states, do not. */
const addsUp = ({ inBytes, events }: Drawing) => inBytes && !events;

/** Draws the bar of a step that is not over fainter than the others. */
function fadeLasting({ ctx, bbox, valToPos }: uPlot, d: Drawing) {
  const lasting = d.events || d.series.every(({ kind }) => kind !== 'bars') ? null : lastingOf(d.times, d.series);
  if (lasting === null) return;
  const half = stepOf(d.times) / 2;
  const top = valToPos(Math.max(...d.series.map(({ kind, values }) => (kind === 'bars' ? values[lasting] ?? 0 : 0))), 'y', true);
  const [from, to] = [-half, half].map((by) => valToPos(d.times[lasting]! + by, 'x', true)) as [number, number];
  ctx.save();
  ctx.globalAlpha = 0.5;
  ctx.fillStyle = colorOf('--surface');
  ctx.fillRect(from, top, to - from, bbox.top + bbox.height - top);
  ctx.restore();
}

function drawMarks({ ctx, bbox, valToPos, scales, data: [times] }: uPlot, marks: Mark[]) {
  ctx.save();
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
  const { min = 0, max = 0 } = scales.x ?? {};
  for (const { at, until = at, color } of marks) {
    // The last point stands for its step, at whose begin the plot may end.
    if (until < min! || at >= Math.max(max!, times.at(-1)! + stepOf(times as number[]))) continue;
    const x = Math.round(valToPos(Math.min(Math.max(at, min!), max!), 'x', true));
    ctx.strokeStyle = ctx.fillStyle = colorOf(color);
    if (until > at) {
      ctx.globalAlpha = 0.12;
      ctx.fillRect(x, bbox.top, valToPos(Math.min(until, max!), 'x', true) - x, bbox.height);
      ctx.globalAlpha = 1;
    }
    if (at < min!) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

/** A click that drags nothing picks the step under the pointer; one with Shift pins to the moment there. */
function pickBy(plot: uPlot, onPick: Drawing['onPick'], onPin: Drawing['onPin']) {
  let from = 0;
  plot.over.addEventListener('pointerdown', ({ clientX }) => {
    from = clientX;
  });
  plot.over.addEventListener('click', ({ clientX, shiftKey }) => {
    const step = plot.cursor.idx;
    if (Math.abs(clientX - from) >= 4) return;
    if (shiftKey && onPin.current) onPin.current(plot.posToVal(clientX - plot.over.getBoundingClientRect().left, 'x') * 1000);
    else if (step !== null && step !== undefined) onPick.current?.(step);
  });
}

const isZoomed = ({ scales: { x } }: uPlot, times: number[]) => (x?.min ?? -Infinity) > times[0]! || (x?.max ?? Infinity) < times.at(-1)!;

function seriesOptions(one: Series, i: number, d: Drawing, write: (value: number) => string): uPlot.Series {
  const stroke = colorOf(one.color ?? palette(i));
  const marked = d.events || d.times.length < 3;
  return {
    label: one.label,
    stroke,
    width: one.kind === 'bars' ? 0 : 2,
    dash: one.kind === 'dashed' ? [5, 5] : undefined,
    fill: one.kind === 'bars' ? stroke : d.series.length === 1 ? `${stroke}22` : undefined,
    paths: one.kind === 'bars' ? uPlot.paths.bars!({ size: [0.72, 36], radius: 0.12 }) : undefined,
    points: { show: marked, size: 6 },
    spanGaps: d.events,
    value: (_, drawn, __, at) => {
      if (at === null) return addsUp(d) ? write((one.shown ?? one.values).reduce<number>((sum, value) => sum + (value ?? 0), 0)) : '';
      const value = one.shown && at !== null ? one.shown[at] : drawn;
      return value === null || value === undefined ? '–' : write(value);
    },
  };
}

const stepOf = (times: number[]): number => (times.length > 1 ? times[1]! - times[0]! : 86_400);

/** Bars stand around their time: the first and the last need half a step more. */
function withRoom(min: number, max: number, { times, series }: Drawing): [number, number] {
  const whole = min <= times[0]! && max >= times.at(-1)!;
  const room = whole && (times.length < 2 || series.some((one) => one.kind === 'bars')) ? stepOf(times) / 2 : 0;
  return [min - room, max + room];
}

const month = (date: Date) => date.toLocaleDateString('en-GB', { month: 'short' });

function timeLabel(at: number, d: Drawing): string {
  const clock = stepOf(d.times) >= 86_000 ? {} : ({ hour: '2-digit', minute: '2-digit' } as const);
  return new Date(at * 1000).toLocaleString('en-GB', { timeZone: d.timeZone, day: 'numeric', month: 'short', year: 'numeric', ...clock });
}

function timeLabels(splits: number[], timeZone: string): string[] {
  const step = (splits[1] ?? 0) - (splits[0] ?? 0);
  let last = '';
  return splits.map((at) => {
    const date = uPlot.tzDate(new Date(at * 1000), timeZone);
    const dayMonth = `${date.getDate()} ${month(date)}`;
    const hour = `${String(date.getHours()).padStart(2, '0')}:${String(date.getMinutes()).padStart(2, '0')}`;
    const text = step >= 86_400 ? dayMonth : dayMonth === last ? hour : `${hour}\n${dayMonth}`;
    last = dayMonth;
    return text;
  });
}

/** Four or five round steps; of bytes, round in the unit in which they are written. */
function splitsOf(max: number, inBytes: boolean): number[] {
  const { factor } = inBytes ? scaleOf(max) : { factor: 1 };
  const raw = max / factor / 4 || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = ([1, 2, 2.5, 5, 10].find((m) => m * power >= raw) ?? 10) * power;
  const whole = inBytes ? step : Math.max(1, Math.round(step));
  return Array.from({ length: Math.floor(max / factor / whole) + 1 }, (_, i) => i * whole * factor);
}

function axisLabels(splits: number[], inBytes: boolean): string[] {
  if (!inBytes) return splits.map(short);
  const { factor, unit } = scaleOf(splits.at(-1) ?? 0);
  return splits.map((value) => (value === 0 ? '0' : `${(value / factor).toLocaleString('en', { maximumFractionDigits: 2 })} ${unit}`));
}
