import { useState } from 'react';
import { count } from '../format/units';
import { graphql } from '../graph/graphql';
import { mutate, useDo } from '../graph/use';
import { Dialog } from '../shell/Dialog';
import { Failure } from '../shell/parts';
import { go, to } from '../shell/route';
import { given, Reason } from '../ui/Reason';
import { Forecast } from './Effects';
import { type OperationRead } from './operation';
import { countsOf, doing, policies } from './words';

const starting = graphql('mutation StartDryRun($input: StartSubscriberChangeInput!) { startSubscriberChange(input: $input) { operation { operationId } } }');

/** Starts a dry run as it was seen, for a reason of its own, and returns the id of the operation. */
export async function startDryRun({ operationId, digest }: OperationRead, silence: boolean, reason: string): Promise<string> {
  const { startSubscriberChange } = await mutate(starting, { input: { dryRunOf: operationId, digest, silence, ...given(reason) } });
  return startSubscriberChange!.operation.operationId;
}

/** The button that does what a dry run showed, and the question before it. */
export function StartDryRun({ of }: { of: OperationRead }) {
  const [asking, ask] = useState(false);
  const [silence, setSilence] = useState(false);
  const planned = of.reason ?? '';
  const [reason, setReason] = useState(planned);
  const start = useDo(async () => {
    const id = await startDryRun(of, silence, reason);
    ask(false);
    go(to('operation', {}, id));
  });
  return (
    <>
      <button type="button" className="primary" onClick={() => ask(true)}>Start this change</button>
      {asking && (
        <Dialog title={`${doing(of)} of ${count(of.total)} subscribers?`} passing={reason === planned} cancel={() => ask(false)}>
          <p>What happens: {of.description}. In the dry run of {of.startedBy}: {countsOf(of)}.</p>
          <p className="hint">{policies[of.errorPolicy]}. A subscriber of which something else would become than the dry run showed fails.</p>
          <Forecast of={of} isSilent={silence} silence={setSilence} />
          <Reason value={reason} change={setReason} />
          {start.problem && <Failure problem={start.problem} />}
          <p className="actions">
            <button type="button" autoFocus onClick={() => ask(false)}>Leave it</button>
            <button type="button" className="primary" disabled={start.busy} onClick={() => void start.run()}>{doing(of)}</button>
          </p>
        </Dialog>
      )}
    </>
  );
}
