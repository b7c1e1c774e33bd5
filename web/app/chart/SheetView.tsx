import { useMemo, useState } from 'react';
import { bytes, count, setSystem, useSystem } from '../format/units';
import { Bars, total } from './Bars';
import { csv, download, fileName } from './download';
import { Plot, type Series } from './Plot';
import { measuresOf, rankingOf, seriesOf, type Sheet, titleOf } from './sheet';
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
  const measures = useMemo(() => measuresOf(sheet), [sheet]);
  const [by, setBy] = useState(0);
  const measure = measures[Math.min(by, measures.length - 1)]!;
  const bars = useMemo(() => rankingOf(sheet, measure), [sheet, measure]);
  const write = measure.bytes ? bytes : (n: number) => count(Math.round(n * 10) / 10);
  return (
    <div className="ranking">
      {measures.length > 1 && (
        <label className="inline">
          <span className="hint">By</span>
          <select value={by} onChange={(event) => setBy(Number(event.target.value))}>
            {measures.map(({ name }, i) => <option key={name} value={i}>{name}</option>)}
          </select>
        </label>
      )}
      <Bars
        label={sheet.name}
        legend={measure.parts.map(({ key }) => titleOf(key))}
        bars={bars.slice(0, mostBars).map(({ label, values }) => ({ label, values, text: write(total(values)) }))}
      />
      {bars.length > mostBars && <p className="hint">The first {mostBars} of {count(bars.length)}. The table has all.</p>}
    </div>
  );
}
