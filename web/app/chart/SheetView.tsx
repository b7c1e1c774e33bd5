import { useMemo, useState } from 'react';
import { bytes, count, setSystem, useSystem } from '../format/units';
import { Bars, total } from './Bars';
import { csv, download, fileName } from './download';
import { Plot, type Series } from './Plot';
import { type Sheet, rankingOf, seriesOf } from './sheet';
import { Table } from './Table';

interface Props {
  title: string;
  sheets: Sheet[];
  /** The answer itself, for the download as JSON. */
  json: unknown;
}

/** What an answer holds: chart or table, and downloads. */
export function SheetView({ title, sheets, json }: Props) {
  const [at, setAt] = useState(0);
  const [asTable, setAsTable] = useState(false);
  const sheet = sheets[Math.min(at, sheets.length - 1)]!;
  const system = useSystem();
  const showTable = asTable || sheet.kind === 'table';
  return (
    <div className="sheet">
      <div className="sheet-tools">
        {sheets.length > 1 ? (
          <select aria-label="Part of the answer" value={at} onChange={(event) => setAt(Number(event.target.value))}>
            {sheets.map((one, i) => (
              <option key={i} value={i}>
                {one.name} ({count(one.rows.length)})
              </option>
            ))}
          </select>
        ) : (
          <span className="sheet-name">{sheet.name}</span>
        )}
        <span className="grow" />
        {sheet.kind !== 'table' && (
          <div className="switch" role="group" aria-label="View">
            <button type="button" aria-pressed={!showTable} onClick={() => setAsTable(false)}>Chart</button>
            <button type="button" aria-pressed={showTable} onClick={() => setAsTable(true)}>Table</button>
          </div>
        )}
        {sheet.columns.some((column) => column.bytes) && (
          <button type="button" className="quiet" title="GiB counts in 1024, GB in 1000" onClick={() => setSystem(system === 'IEC' ? 'SI' : 'IEC')}>
            {system === 'IEC' ? 'GiB' : 'GB'}
          </button>
        )}
        <button type="button" className="quiet" onClick={() => download(fileName(title, 'csv'), 'text/csv;charset=utf-8', csv(sheet))}>CSV</button>
        <button type="button" className="quiet" onClick={() => download(fileName(title, 'json'), 'application/json', `${JSON.stringify(json, null, 2)}\n`)}>JSON</button>
      </div>
      {showTable ? <Table sheet={sheet} label={sheet.name} /> : sheet.kind === 'series' ? <SeriesView sheet={sheet} /> : <RankingView sheet={sheet} />}
    </div>
  );
}

function SeriesView({ sheet }: { sheet: Sheet }) {
  const drawn = useMemo(() => seriesOf(sheet), [sheet]);
  // Bytes and counts have no common axis: what the first series is decides.
  const { inBytes, series } = useMemo(() => {
    const inBytes = drawn.series.some((one) => one.bytes);
    return { inBytes, series: drawn.series.filter((one) => one.bytes === inBytes) as Series[] };
  }, [drawn]);
  const names = series.map((one) => one.label).join(', ');
  return <Plot label={`${sheet.name}: ${names} over time. The table view has the numbers.`} times={drawn.times} series={series} bytes={inBytes} height={250} />;
}

const mostBars = 50;

function RankingView({ sheet }: { sheet: Sheet }) {
  useSystem();
  const { numbers, bars } = useMemo(() => rankingOf(sheet), [sheet]);
  const inBytes = numbers.some((number) => number.bytes);
  const shown = numbers.map((number, i) => ({ number, i })).filter(({ number }) => number.bytes === inBytes);
  // Parts that have a total beside them would count twice.
  const parts = shown.filter(({ number }) => !/total|usage$|^bytes$|\.bytes$/i.test(number.key));
  const drawn = parts.length > 0 && parts.length < shown.length ? parts : shown;
  const write = inBytes ? bytes : count;
  return (
    <div className="ranking">
      <Bars
        label={sheet.name}
        legend={drawn.map(({ number }) => number.key)}
        bars={bars.slice(0, mostBars).map((bar) => {
          const values = drawn.map(({ i }) => bar.values[i]!);
          return { label: bar.label, values, text: write(total(values)) };
        })}
      />
      {bars.length > mostBars && <p className="hint">The first {mostBars} of {count(bars.length)}. The table has all.</p>}
    </div>
  );
}
