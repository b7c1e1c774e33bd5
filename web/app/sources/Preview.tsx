import { useState } from 'react';
import { moment } from '../format/time';
import { bytes, count, useSystem } from '../format/units';
import { type VariablesOf } from '../graph/graphql';
import { useAsk, useDo, useSettled } from '../graph/use';
import { Dialog } from '../shell/Dialog';
import { Failure } from '../shell/parts';
import { useZone } from '../shell/viewer';
import { cutSample, type Format, mostCharacters, mostRecords, type Previewed, previewQuery, summaryOf } from './profile';
import { Reason } from './words';

/** For how many milliseconds nothing is typed before a sample is tried. */
const pause = 400;

/** How a profile reads a sample. A null sample or profile is not tried. */
export function usePreview(by: VariablesOf<typeof previewQuery>['by'] | null, sample: string, format: Format) {
  const settled = useSettled(JSON.stringify({ by, sample: cutSample(sample, format) }), pause);
  const variables = JSON.parse(settled) as VariablesOf<typeof previewQuery> & { by: typeof by };
  const { data, former, problem } = useAsk(variables.by === null || variables.sample.trim() === '' ? null : previewQuery, variables);
  return { all: (data ?? former)?.previewSourceProfile ?? undefined, problem };
}

interface SampleProps {
  sample: string;
  change: (sample: string) => void;
}

/** What a sender sends, pasted or out of a file, of which the beginning is read. */
export function Sample({ sample, change }: SampleProps) {
  const choose = useDo(async (file: File) => change(await file.slice(0, mostCharacters).text()));
  return (
    <div className="stacked">
      <label>A sample of what it sends
        <textarea className="mono" rows={7} spellCheck={false} placeholder="Paste some records here" value={sample} onChange={(event) => change(event.target.value)} />
      </label>
      <label className="narrow">Or a file<input type="file" accept=".json,.ndjson,.jsonl,.csv,.txt" onChange={(event) => { const file = event.target.files?.[0]; if (file) void choose.run(file); }} /></label>
      {choose.problem && <Failure problem={choose.problem} />}
      <p className="hint">The first {mostRecords} records are tried. Nothing is stored.</p>
    </div>
  );
}

/** What would become of each record of a sample. */
export function PreviewTable({ all }: { all: Previewed[] }) {
  const timeZone = useZone();
  const [open, setOpen] = useState<Previewed | null>(null);
  useSystem();
  const { booked, skipped, failed } = summaryOf(all);
  if (all.length === 0) return <p className="hint" role="status">The sample has no records.</p>;
  return (
    <>
      <p role="status"><strong>{count(booked)}</strong> of {count(all.length)} would be booked{skipped > 0 && `, ${count(skipped)} left out`}{failed > 0 && <>, <span className="fault-text">{count(failed)} cannot be used</span></>}.</p>
      <p className="hint">Times are those of {timeZone}.</p>
      <div className="table-scroll sample-table" role="region" aria-label="Table of the sample" tabIndex={0}>
        <table className="rows">
          <thead><tr><th scope="col">Record</th><th scope="col">Result</th><th scope="col">Subscriber</th><th scope="col">From</th><th scope="col">Until</th><th scope="col" className="number">Received (MT)</th><th scope="col" className="number">Sent (MO)</th></tr></thead>
          <tbody>
            {all.map((one) => (
              <tr key={one.place}>
                <td><button type="button" className="bare link" aria-label={`Show record ${one.place}`} onClick={() => setOpen(one)}>{one.place}</button></td>
                {one.record ? (
                  <>
                    <td><span className="badge good">booked</span></td>
                    <td className="mono">{subscriberOf(one.record)}</td>
                    <td className="time">{one.record.startedAt ? moment(one.record.startedAt, timeZone) : '–'}</td>
                    <td className="time">{moment(one.record.endedAt, timeZone)}</td>
                    <td className="number">{bytes(one.record.mobileTerminated)}</td>
                    <td className="number">{bytes(one.record.mobileOriginated)}</td>
                  </>
                ) : (
                  <>
                    <td><span className={one.isSkipped ? 'badge' : 'badge upper'}>{one.isSkipped ? 'left out' : 'rejected'}</span></td>
                    <td colSpan={5} className="reason">{one.isSkipped ? 'The profile leaves it out.' : <Reason field={one.field} text={one.error ?? ''} />}</td>
                  </>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {open && <RecordDialog of={open} close={() => setOpen(null)} />}
    </>
  );
}

const subscriberOf = ({ physicalId, imsi, msisdn }: NonNullable<Previewed['record']>): string => physicalId || (imsi && `IMSI ${imsi}`) || msisdn || '–';

function RecordDialog({ of: { place, payload, record }, close }: { of: Previewed; close: () => void }) {
  return (
    <Dialog title={`Record ${place}`} passing cancel={close}>
      <pre className="payload" tabIndex={0} role="group" aria-label="The record"><code>{indented(payload)}</code></pre>
      {record && (
        <dl className="facts">
          <div><dt>Recognized by</dt><dd className="mono">{record.recordId || 'its session and counters'}</dd></div>
          {record.sessionId && <div><dt>Session</dt><dd className="mono">{record.sessionId}</dd></div>}
          <div><dt>Bytes count</dt><dd>{record.isCumulative ? 'since the session or the day began' : 'since the record before'}</dd></div>
        </dl>
      )}
      <p className="actions"><button type="button" autoFocus onClick={close}>Close</button></p>
    </Dialog>
  );
}

// Numbers beyond what JavaScript holds would change in JSON.parse: such records stay as they are written.
const tooLong = /\d{16}/;

/** A record with its lines indented. */
export function indented(payload: string): string {
  if (tooLong.test(payload)) return payload;
  try {
    return JSON.stringify(JSON.parse(payload), null, 2);
  } catch {
    return payload;
  }
}
