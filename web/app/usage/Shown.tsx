import { useMemo } from 'react';
import { Bars } from '../chart/Bars';
import { palette, type Series } from '../chart/Plot';
import { day, moment } from '../format/time';
import { bytes, change, count, percent, useSystem } from '../format/units';
import { Annotated } from '../notes/Annotated';
import { Empty } from '../shell/parts';
import { go } from '../shell/route';
import { useMay } from '../shell/viewer';
import { type Part, type Result, risen } from './ask';
import { HeatMap } from './HeatMap';
import { listOf, stepOf } from './links';
import { comparisons, type Definition, nameOf, ranks, splits } from './question';
import type { Asked } from './span';

interface Props {
  of: Definition;
  asked: Asked;
  result: Result;
  label: string;
  timeZone: string;
  /** How high a chart is, in pixels. */
  height?: number;
}

/** How many rows a table shows. */
const mostRows = 500;

/** The answer to a question, drawn as it says, with its numbers in a table. */
export function Shown(props: Props) {
  const { of: d, result, timeZone } = props;
  useSystem();
  const write = d.measure === 'SESSIONS' ? count : bytes;
  const maySee = useMay('VIEW_SUBSCRIBER');
  const whole = maySee && listOf({ ...d, split: null }, result.parts[0] ?? none);
  const unread = d.split === 'COUNTRY' || d.split === 'SOURCE' ? result.total - result.parts.reduce((sum, { total }) => sum + total, 0) : 0;
  const nothing = result.total === 0 && !result.before?.total;
  return (
    <>
      <div className="figures">
        <div>
          <span className="hint">{d.split === 'TAG' ? 'In all, each subscriber once' : 'In all'}</span>
          <strong>{whole ? <a href={whole}>{write(result.total)}</a> : write(result.total)}</strong>
          {result.before && <span className="hint">{comparedWith(result.total, result.before.total, write)} in {nameOf(comparisons, d.compare ?? null)}{props.asked.isRunning && ', to the same time'}</span>}
        </div>
      </div>
      {nothing ? <Empty>No usage was recorded in this span{d.compare && ', nor in that before'}. Choose another span, or fewer conditions.</Empty> : <Chart {...props} write={write} />}
      {unread > 0 && <p className="hint">{write(unread)} of it is from before the usage ledger begins, which alone knows the {nameOf(splits, d.split ?? null)}.</p>}
      {d.split === 'TAG' && <p className="hint">Usage counts once for each tag of its subscriber, so that tags add up to more than the whole.</p>}
      {result.completeUntil && <p className="hint">Complete until {moment(result.completeUntil, timeZone)}, in {timeZone}.</p>}
    </>
  );
}

const none: Part = { key: 'all', value: null, label: 'all', isOthers: false, total: 0, values: [] };

function comparedWith(now: number, before: number, write: (value: number) => string): string {
  const by = change(now, before);
  return by === null ? `${write(before)}` : `${by} on ${write(before)}`;
}

type ChartProps = Props & { write: (value: number) => string };

function Chart(props: ChartProps) {
  const { of: d, result, timeZone, write } = props;
  if (d.chart === 'NUMBER') return null;
  if (d.chart === 'HEAT_MAP') return <HeatMap result={result} timeZone={timeZone} write={write} />;
  if (d.chart === 'TABLE') return ranks(d) ? <Values {...props} /> : <Steps {...props} />;
  if (ranks(d)) return <Ranking {...props} />;
  return (
    <>
      <OverTime {...props} />
      {d.split && <Legend {...props} />}
      <details className="numbers">
        <summary>The numbers as a table</summary>
        <Steps {...props} />
      </details>
    </>
  );
}

function OverTime({ of: d, asked, result, label, timeZone, height = 300 }: ChartProps) {
  const { times, series } = useMemo(() => ({ times: result.times.map((at) => at / 1000), series: seriesOf(d, result) }), [d, result]);
  const pick = (i: number) => {
    const href = stepAt(d, asked, result, i, timeZone);
    if (href) go(href);
  };
  return <Annotated about={d} from={asked.from} to={asked.to} label={`${label}. The numbers are in the table below.`} times={times} series={series} bytes={d.measure !== 'SESSIONS'} timeZone={timeZone} height={height} onPick={pick} />;
}

/** The address of the question about a step of the answer. */
function stepAt(d: Definition, asked: Asked, { times }: Result, i: number, timeZone: string): string | null {
  return stepOf(d, Math.max(times[i]!, asked.from), Math.min(times[i + 1] ?? asked.to, asked.to), timeZone);
}

const colorOf = (part: Part, i: number) => (part.isOthers ? '--series-past' : palette(i));

function seriesOf(d: Definition, { parts, before }: Result): Series[] {
  const series: Series[] = parts.map((part, i) => {
    const own = { label: d.split ? part.label : 'This span', color: colorOf(part, i) };
    if (d.chart === 'LINE') return { ...own, values: part.values };
    // The bar of a part stands behind those of the parts after it.
    const drawn = part.values.map((_, step) => parts.slice(i).reduce((all, { values }) => all + (values[step] ?? 0), 0));
    return { ...own, values: drawn, shown: part.values, kind: 'bars' };
  });
  const steps = parts[0]?.values.length ?? 0;
  // A line of all would leave those of the parts at the bottom.
  if (before && !(d.split && d.chart === 'LINE')) series.push({ label: d.compare === 'YEAR_BEFORE' ? 'A year before' : 'Before', values: Array.from({ length: steps }, (_, i) => before.values[i] ?? null), kind: 'dashed', color: '--series-past' });
  return series;
}

/** The parts of a chart over time with their sums, each leading to what it sums up. */
function Legend({ of: d, result: { parts }, write }: ChartProps) {
  const all = parts.reduce((sum, { total }) => sum + total, 0);
  return (
    <ul className="legend sums" aria-label="Sums">
      {parts.map((part, i) => (
        <li key={part.key}>
          <i style={{ background: `var(${colorOf(part, i)})` }} />
          <Name of={d} part={part} /> <strong>{write(part.total)}</strong>{all > 0 && ` ${percent(part.total / all)}`}
        </li>
      ))}
    </ul>
  );
}


function Name({ of: d, part }: { of: Definition; part: Part }) {
  const may = useMay('VIEW_SUBSCRIBER');
  const href = may && listOf(d, part);
  return href ? <a href={href}>{part.label}</a> : <>{part.label}</>;
}

/** A number with its sign. */
const difference = (part: Part, write: (value: number) => string) => `${part.before === undefined ? 'at least ' : ''}${risen(part) < 0 ? '−' : '+'}${write(Math.abs(risen(part)))}`;

const mostBars = 25;

function Ranking(props: ChartProps) {
  const { of: d, result: { parts, isCut }, label, write } = props;
  const risers = d.chart === 'RISERS';
  const shown = (risers ? parts.filter((part) => risen(part) > 0) : parts).slice(0, mostBars);
  return (
    <>
      {shown.length === 0 && <Empty>Nothing uses more than in the span before.</Empty>}
      <Bars label={label} bars={shown.map((part) => ({
        label: <Name of={d} part={part} />, values: [risers ? risen(part) : part.total], text: risers ? difference(part, write) : write(part.total),
      }))} />
      {parts.length > shown.length && <p className="hint">The first {count(shown.length)} of {count(parts.length)}. The table has all.</p>}
      {isCut && <p className="hint">Of the 100 {nameOf(splits, d.split ?? null)}s with the most usage.</p>}
      <details className="numbers">
        <summary>The numbers as a table</summary>
        <Values {...props} />
      </details>
    </>
  );
}

/** The values of the split, with those before. */
function Values({ of: d, result: { parts, before }, label, write }: ChartProps) {
  return (
    <div className="table-scroll tall" role="region" aria-label={label} tabIndex={0}>
      <table>
        <thead><tr><th scope="col">{capital(nameOf(splits, d.split ?? null))}</th><th scope="col" className="number">This span</th>{before && <><th scope="col" className="number">Before</th><th scope="col" className="number">Change</th></>}</tr></thead>
        <tbody>
          {parts.map((part) => (
            <tr key={part.key}>
              <th scope="row"><Name of={d} part={part} /></th>
              <td className="number">{write(part.total)}</td>
              {before && <><td className="number">{part.before === undefined ? `at most ${write(part.atMost ?? 0)}` : write(part.before)}</td><td className="number">{difference(part, write)}</td></>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** The steps of the answer, a column for each part. */
function Steps({ of: d, asked, result, label, timeZone, write }: ChartProps) {
  const { times, parts, before } = result;
  const rows = times.slice(0, mostRows);
  return (
    <>
      <div className="table-scroll tall" role="region" aria-label={label} tabIndex={0}>
        <table>
          <thead><tr><th scope="col">Begins ({timeZone})</th>{parts.map((part) => <th key={part.key} scope="col" className="number">{d.split ? <Name of={d} part={part} /> : 'This span'}</th>)}{before && <th scope="col" className="number">Before</th>}</tr></thead>
          <tbody>
            {rows.map((at, i) => {
              const href = stepAt(d, asked, result, i, timeZone);
              const text = d.interval === 'HOUR' ? moment(at, timeZone) : day(at, timeZone);
              return (
                <tr key={at}>
                  <th scope="row">{href ? <a href={href}>{text}</a> : text}</th>
                  {parts.map((part) => <td key={part.key} className="number">{write(part.values[i] ?? 0)}</td>)}
                  {before && <td className="number">{before.values[i] === undefined ? '–' : write(before.values[i])}</td>}
                </tr>
              );
            })}
          </tbody>
          <tfoot><tr><th scope="row">Sum</th>{parts.map((part) => <td key={part.key} className="number">{write(part.total)}</td>)}{before && <td className="number">{write(before.total)}</td>}</tr></tfoot>
        </table>
      </div>
      {times.length > rows.length && <p className="hint">The first {mostRows} of {count(times.length)} steps. The CSV has all.</p>}
    </>
  );
}
