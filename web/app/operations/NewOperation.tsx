import { type FormEvent, useState } from 'react';
import { useDo } from '../graph/use';
import { Empty, Failure, Panel } from '../shell/parts';
import { go, to } from '../shell/route';
import { useMay, useViewer } from '../shell/viewer';
import { Reason } from '../ui/Reason';
import { Forecast } from './Effects';
import { useOperation } from './operation';
import { Results } from './Results';
import { startDryRun } from './StartDryRun';
import { Template } from './Template';
import { columnsOf, type Field, fields, guess, upload } from './upload';
import { doing, type Policy, policies, Progress, runs } from './words';
import '../styles/lists.css';

interface Chosen {
  file: File;
  columns: string[];
  mapped: (Field | '')[];
}

/** Changes subscribers by a file, and creates some: its columns, a dry run that shows everything that is wrong, and the run. */
export default function NewOperation() {
  const may = useMay('VIEW_SUBSCRIBER');
  const { permissions, isRestricted } = useViewer();
  const mayCreate = permissions.includes('MANAGE_INVENTORY') && !isRestricted;
  const [create, setCreate] = useState(false);
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const [policy, setPolicy] = useState<Policy>('REJECT_EVERYTHING');
  const [reason, setReason] = useState('');
  const [dryRun, setDryRun] = useState<string | null>(null);
  const choose = useDo(async (file: File) => {
    const columns = await columnsOf(file);
    setDryRun(null);
    setChosen({ file, columns, mapped: guess(columns) });
  });
  const check = useDo(async () => {
    const { file, columns, mapped } = chosen!;
    setDryRun(null);
    setDryRun((await upload(file, columns, mapped, { errorPolicy: policy, create, reason })).operationId);
  });
  const change = (next: Partial<Chosen>) => {
    setDryRun(null);
    setChosen({ ...chosen!, ...next });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void check.run();
  };
  return (
    <div className="page wide">
      <p className="crumbs"><a href={to('operations')}>Operations</a></p>
      <div className="heading">
        <div><h1>Change by a file</h1><p className="hint">A CSV file with a line for each subscriber. Nothing changes before you have seen what would.</p></div>
        {may && <Template creates={mayCreate} />}
      </div>
      {!may ? <Empty>You need the permission View Subscriber to change subscribers.</Empty> : (
        <>
          <Panel id="file" title="File">
            <form className="stacked" onSubmit={submit}>
              <label className="narrow">CSV file
                <input type="file" accept=".csv,text/csv" onChange={(event) => { const file = event.target.files?.[0]; if (file) void choose.run(file); }} />
              </label>
              {choose.problem && <Failure problem={choose.problem} />}
              {chosen && <Columns of={chosen} change={(mapped) => change({ mapped })} />}
              {chosen && (
                <label className="narrow">When lines fail
                  <select value={policy} onChange={(event) => { setDryRun(null); setPolicy(event.target.value as Policy); }}>
                    {Object.entries(policies).map(([key, name]) => <option key={key} value={key}>{name}</option>)}
                  </select>
                </label>
              )}
              {chosen && mayCreate && (
                <label className="inline">
                  <input type="checkbox" checked={create} onChange={(event) => { setDryRun(null); setCreate(event.target.checked); }} />
                  Create subscribers that do not exist
                </label>
              )}
              {chosen && <Reason value={reason} change={setReason} />}
              {chosen && <p className="actions"><button type="submit" className={dryRun === null ? 'primary' : ''} disabled={check.busy || !chosen.mapped.includes('physicalId')}>Show what would change</button></p>}
              {check.problem && <Failure problem={check.problem} />}
            </form>
          </Panel>
          {dryRun !== null && chosen && <DryRun id={dryRun} reason={reason} />}
        </>
      )}
    </div>
  );
}

function Columns({ of: { columns, mapped }, change }: { of: Chosen; change: (mapped: Chosen['mapped']) => void }) {
  return (
    <fieldset className="choices">
      <legend>Columns</legend>
      {columns.map((column, i) => column && (
        <label key={`${i} ${column}`}>{column}
          <select aria-label={`Field of ${column}`} value={mapped[i]} onChange={(event) => change(mapped.with(i, event.target.value as Field | ''))}>
            <option value="">leave out</option>
            {fields.map((field) => <option key={field} value={field} disabled={field !== mapped[i] && mapped.includes(field)}>{field}</option>)}
          </select>
        </label>
      ))}
      {!mapped.includes('physicalId') && <p className="fault" role="alert">One column must be the physicalId.</p>}
    </fieldset>
  );
}

function DryRun({ id, reason }: { id: string; reason: string }) {
  const { of, problem, reload } = useOperation(id);
  const [silence, setSilence] = useState(false);
  const start = useDo(async () => go(to('operation', {}, await startDryRun(of!, silence, reason))));
  if (problem) return <Failure problem={problem} retry={reload} />;
  if (of === null) return null;
  const blocked = of.errorPolicy === 'REJECT_EVERYTHING' && of.failed > 0;
  const none = of.created + of.changed === 0;
  return (
    <>
      <Panel id="dry-run" title="What would change">
        <Progress of={of} />
        {!runs(of.state) && <Forecast of={of} isSilent={silence} silence={setSilence} />}
        {!runs(of.state) && (
          <p className="actions">
            <button type="button" className="primary" disabled={start.busy || blocked || none} onClick={() => void start.run()}>{doing(of)}</button>
            {blocked && <span className="hint">Lines fail: mend the file, or choose to change the others.</span>}
            {none && !blocked && <span className="hint">Nothing would change.</span>}
          </p>
        )}
        {start.problem && <Failure problem={start.problem} />}
      </Panel>
      {!runs(of.state) && <Results key={id} id={id} params={new URLSearchParams(of.failed > 0 ? { outcome: 'FAILED' } : {})} isDryRun />}
    </>
  );
}
