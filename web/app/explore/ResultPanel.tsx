import { useMemo, useState } from 'react';
import { received, sheetsOf } from '../chart/sheet';
import { SheetView } from '../chart/SheetView';
import type { GraphError } from '../graph/client';
import { titleOf } from '../graph/problem';
import { count } from '../format/units';
import { type Result, useResult } from './results';

/** What the last answer of the tab holds, drawn; and its errors in words. */
export function ResultPanel({ tab }: { tab: string }) {
  const result = useResult(tab);
  const [open, setOpen] = useState(true);
  const sheets = useMemo(() => (result ? sheetsOf(result.events ? eventsOf(result.events) : result.answer?.data) : []), [result]);
  if (!result) return <div className="result idle"><p className="hint">Run a query, and what it answers is drawn here.</p></div>;
  const waiting = result.running && !result.events;
  if (waiting && !result.answer && !result.problem) return <div className="result idle"><p className="hint" role="status">Running the query …</p></div>;
  return (
    <section className={`result ${open ? '' : 'closed'}`} aria-label="Result">
      <header>
        <button type="button" className="fold" aria-expanded={open} onClick={() => setOpen(!open)}>
          <span aria-hidden="true">{open ? '▾' : '▸'}</span> Result
        </button>
        <span className="hint" role="status">{summary(result)}</span>
      </header>
      {open && (
        <div className="result-body answered" aria-busy={waiting}>
          <Errors result={result} />
          {sheets.length > 0 && <SheetView title={result.name} sheets={sheets} json={result.events ?? result.answer?.data} />}
          {sheets.length === 0 && !result.answer?.errors && !result.problem && (
            <p className="hint">{result.running ? 'Waiting for the first event …' : 'Nothing in this answer is a list or a set of figures.'}</p>
          )}
        </div>
      )}
    </section>
  );
}

/** Events as one list under the name of the subscription's field. */
function eventsOf(events: NonNullable<Result['events']>): unknown {
  const name = Object.keys((events[0]?.data as object | undefined) ?? {})[0] ?? 'events';
  return { [name]: events.map((event) => ({ [received]: event.received, ...((event.data as Record<string, object | null>)[name] ?? {}) })) };
}

function summary({ milliseconds, answer, events, running, live }: Result): string {
  const parts = [];
  if (running && !events) return 'Running the query …';
  if (events) parts.push(`${count(events.length)} ${events.length === 1 ? 'event' : 'events'}`, live ? 'live' : running ? 'connecting …' : 'ended');
  else parts.push(`${count(Math.round(milliseconds))} ms`);
  const cost = answer?.extensions?.cost;
  if (typeof cost === 'number') parts.push(`cost ${count(cost)}`);
  return parts.join(' · ');
}

function Errors({ result: { answer, problem } }: { result: Result }) {
  const errors: GraphError[] = answer?.errors ?? (problem ? [{ message: problem.message, extensions: { code: problem.code } }] : []);
  if (errors.length === 0) return null;
  return (
    <ul className="errors" role="alert">
      {errors.map((error, i) => (
        <li key={i} className="failure">
          <strong>{titleOf(error.extensions?.code)}</strong>
          <p>{error.message}</p>
          <p className="hint">{where(error)}</p>
        </li>
      ))}
    </ul>
  );
}

function where({ path, locations, extensions }: GraphError): string {
  const parts = [];
  if (path?.length) parts.push(`at ${path.join('.')}`);
  if (locations?.[0]) parts.push(`line ${locations[0].line}, column ${locations[0].column}`);
  if (extensions?.requestId) parts.push(`request ${extensions.requestId}`);
  return parts.join(' · ');
}
