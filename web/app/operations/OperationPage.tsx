import { type FormEvent, useState } from 'react';
import { flushSync } from 'react-dom';
import { momentInZone } from '../format/time';
import { graphql } from '../graph/graphql';
import { mutate, useDo } from '../graph/use';
import { Empty, Failure, Loading, Panel } from '../shell/parts';
import { go, to } from '../shell/route';
import { useUnsaved } from '../shell/unsaved';
import { useMay, useZone } from '../shell/viewer';
import { given, Reason } from '../ui/Reason';
import { SetOff } from './Effects';
import { useOperation } from './operation';
import { titleOf } from './Operations';
import { Results } from './Results';
import { StartDryRun } from './StartDryRun';
import { policies, Progress, runs, State } from './words';
import '../styles/lists.css';

const cancelling = graphql('mutation CancelOperation($input: CancelOperationInput!) { cancelOperation(input: $input) { operation { operationId } } }');
const undoing = graphql('mutation UndoOperation($input: UndoOperationInput!) { undoOperation(input: $input) { operation { operationId } } }');

/** One operation: how far it is, what became of each subscriber, and the way back. */
export default function OperationPage({ id, params }: { id: string; params: URLSearchParams }) {
  const may = useMay('VIEW_SUBSCRIBER');
  const timeZone = useZone();
  const { of, data, problem, reload } = useOperation(may ? id : null);
  const cancel = async (why: { reason?: string }) => void (await mutate(cancelling, { input: { operationId: id, ...why } }));
  const undo = async (why: { reason?: string }) => (await mutate(undoing, { input: { operationId: id, ...why } })).undoOperation?.operation.operationId;
  return (
    <div className="page wide">
      <p className="crumbs"><a href={to('operations')}>Operations</a></p>
      {!may && <Empty>You need the permission View Subscriber to see operations.</Empty>}
      {problem && <Failure problem={problem} retry={reload} more={<a href={to('operations')}>All operations</a>} />}
      {may && !data && !problem && <Loading label="Reading the operation" />}
      {data && !of && !problem && <Empty>There is no operation {id}; they are kept for a while. <a href={to('operations')}>All operations</a></Empty>}
      {of && (
        <>
          <div className="heading">
            <div><h1>{titleOf(of)}</h1><p className="hint"><State of={of.state} /> {policies[of.errorPolicy]}</p></div>
            {runs(of.state) && <Step key={`cancel ${id}`} name="Cancel" step={cancel} />}
            {of.startableUntil !== null && Date.parse(of.startableUntil) > Date.now() && <StartDryRun of={of} />}
            {of.undoableUntil !== null && <Step key={`undo ${id}`} name="Undo" step={undo} />}
          </div>
          <Panel id="progress" title="Progress">
            <Progress of={of} />
            <dl className="facts">
              <div><dt>Started</dt><dd>{momentInZone(of.startedAt, timeZone)} by {of.startedBy}</dd></div>
              {of.reason !== null && <div><dt>Reason</dt><dd>{of.reason}</dd></div>}
              {of.endedAt !== null && <div><dt>Ended</dt><dd>{momentInZone(of.endedAt, timeZone)}</dd></div>}
              {of.undoableUntil !== null && <div><dt>Can be undone</dt><dd>until {momentInZone(of.undoableUntil, timeZone)}</dd></div>}
              {of.startableUntil !== null && <div><dt>Can be started</dt><dd>until {momentInZone(of.startableUntil, timeZone)}</dd></div>}
              <SetOff of={of} />
              {of.startedAs && <div><dt>Started as</dt><dd><a href={to('operation', {}, of.startedAs.operationId)}>this operation</a></dd></div>}
              {of.dryRunOf && <div><dt>Does what was seen in</dt><dd><a href={to('operation', {}, of.dryRunOf.operationId)}>this dry run</a></dd></div>}
              {of.undoOf !== null && <div><dt>Takes back</dt><dd><a href={to('operation', {}, of.undoOf)}>this operation</a></dd></div>}
            </dl>
          </Panel>
          <Results id={id} params={params} isDryRun={of.isDryRun} />
        </>
      )}
    </div>
  );
}

/** Ends an operation or takes it back, for a reason. */
function Step({ name, step }: { name: string; step: (why: { reason?: string }) => Promise<string | undefined> }) {
  const [reason, setReason] = useState('');
  useUnsaved(reason !== '');
  const taken = useDo(async () => {
    const id = await step(given(reason));
    flushSync(() => setReason('')); // it is saved, so that leaving the page is no question
    if (id) go(to('operation', {}, id));
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void taken.run();
  };
  return (
    <form onSubmit={submit}>
      <div className="row">
        <Reason isBare value={reason} change={setReason} />
        <button type="submit" disabled={taken.busy}>{name}</button>
      </div>
      {taken.problem && <Failure problem={taken.problem} />}
    </form>
  );
}
