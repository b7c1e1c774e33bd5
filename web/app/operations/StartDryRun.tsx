import { useState } from 'react';
import { count } from '../format/units';
import { graphql } from '../graph/graphql';
import { mutate, useDo } from '../graph/use';
import { Dialog } from '../shell/Dialog';
import { Failure } from '../shell/parts';
import { go, to } from '../shell/route';
import { Forecast } from './Effects';
import { type OperationRead } from './operation';
import { countsOf, doing, policies } from './words';

const starting = graphql('mutation StartDryRun($input: StartSubscriberChangeInput!) { startSubscriberChange(input: $input) { operation { operationId } } }');

/** Starts a dry run as it was seen, and returns the id of the operation. */
export async function startDryRun({ operationId, digest }: OperationRead, silence: boolean): Promise<string> {
  const { startSubscriberChange } = await mutate(starting, { input: { dryRunOf: operationId, digest, silence } });
  return startSubscriberChange!.operation.operationId;
}

/** The button that does what a dry run showed, and the question before it. */
export function StartDryRun({ of }: { of: OperationRead }) {
  const [asking, ask] = useState(false);
  const [silence, setSilence] = useState(false);
  const start = useDo(async () => {
    const id = await startDryRun(of, silence);
    ask(false);
    go(to('operation', {}, id));
  });
  return (
    <>
      <button type="button" className="primary" onClick={() => ask(true)}>Start this change</button>
      {asking && (
        <Dialog title={`${doing(of)} of ${count(of.total)} subscribers?`} passing cancel={() => ask(false)}>
          <p>What happens: {of.description}. In the dry run of {of.startedBy}: {countsOf(of)}.</p>
          <p className="hint">{policies[of.errorPolicy]}. A subscriber of which something else would become than the dry run showed fails.</p>
          <Forecast of={of} isSilent={silence} silence={setSilence} />
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
