import { useMemo, useState } from 'react';
import { count, setSystem, useSystem } from '../format/units';
import { useZone } from '../shell/viewer';
import { Bars, total } from './Bars';
import { csv, download, fileName } from './download';
import { Plot } from './Plot';
import { measuresOf, rankingOf, seriesOf, type Sheet, titleOf, written } from './sheet';
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
  const [chosen, setChosen] = useState<'chart' | 'table' | null>(null);
  const sheet = sheets[Math.min(at, sheets.length - 1)]!;
  const system = useSystem();
  const timeZone = useZone();
  const first = sheet.kind === 'table' || sheet.kind === 'events' ? 'table' : 'chart';
  const showTable = sheet.kind === 'table' || (chosen ?? first) === 'table';
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
            <button type="button" aria-pressed={!showTable} onClick={() => setChosen('chart')}>Chart</button>
            <button type="button" aria-pressed={showTable} onClick={() => setChosen('table')}>Table</button>
          </div>
        )}
        {sheet.columns.some((column) => column.unit === 'bytes') && (
          <button type="button" className="quiet" title="GB counts in 1000, GiB in 1024" onClick={() => setSystem(system === 'IEC' ? 'SI' : 'IEC')}>
            {system === 'IEC' ? 'GiB' : 'GB'}
          </button>
        )}
        <button type="button" className="quiet" onClick={() => download(fileName(title, 'csv', timeZone), 'text/csv;charset=utf-8', csv(sheet))}>CSV</button>
        <button type="button" className="quiet" onClick={() => download(fileName(title, 'json', timeZone), 'application/json', `${JSON.stringify(json, null, 2)}\n`)}>JSON</button>
      </div>
      {showTable ? <Table sheet={sheet} label={sheet.name} /> : sheet.kind !== 'ranking' ? <SeriesView sheet={sheet} /> : <RankingView sheet={sheet} />}
    </div>
  );
}

function SeriesView({ sheet }: { sheet: Sheet }) {
  const timeZone = useZone();
  const { times, series, hidden } = useMemo(() => seriesOf(sheet), [sheet]);
  const names = series.map((one) => one.label).join(', ');
  return (
    <>
      <Plot
        label={`${sheet.name}: ${names} over time. The table view has the numbers.`}
        times={times}
        series={series}
        bytes={series.some((one) => one.unit === 'bytes')}
        timeZone={timeZone}
        height={250}
        events={sheet.kind === 'events'}
      />
      {hidden > 0 && <p className="hint">The {series.length} largest of {series.length + hidden}. The table has all.</p>}
    </>
  );
}

const mostBars = 50;

function RankingView({ sheet }: { sheet: Sheet }) {
  useSystem();
  const measures = useMemo(() => measuresOf(sheet), [sheet]);
  const [by, setBy] = useState(0);
  const measure = measures[Math.min(by, measures.length - 1)]!;
  const bars = useMemo(() => rankingOf(sheet, measure), [sheet, measure]);
  const fired = sheet.rows.length - bars.length;
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
        bars={bars.slice(0, mostBars).map(({ label, values }) => ({ label, values, text: written(total(values), measure.unit) }))}
      />
      {bars.length > mostBars && <p className="hint">The first {mostBars} of {count(bars.length)}. The table has all.</p>}
      {fired > 0 && <p className="hint">{count(fired)} {fired === 1 ? 'has' : 'have'} fired and {fired === 1 ? 'is' : 'are'} left out. The table has all.</p>}
    </div>
  );
}
