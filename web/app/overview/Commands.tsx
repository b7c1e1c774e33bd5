import { graphql } from '../graph/graphql';
import { mutate, useAsk, useDo } from '../graph/use';
import { Failure, Panel } from '../shell/parts';
import { useMay } from '../shell/viewer';
import { Ago } from '../ui/Ago';

const query = graphql(`
  query CommandsOfSubscriber($physicalId: String!) {
    subscriber(by: {physicalId: $physicalId}) {
      commands(first: 10) { nodes { commandId kind state reason requestedAt attempts nextAttemptAt lastError } }
    }
  }
`);
const retry = graphql('mutation RetryCommand($input: RetryCommandInput!) { retryCommand(input: $input) { command { state } } }');
const cancel = graphql('mutation CancelCommand($input: CancelCommandInput!) { cancelCommand(input: $input) { command { state } } }');

export const commandKinds: Record<string, string> = { BAR: 'Bar', UNBAR: 'Unbar', ACTIVATE: 'Activate', DEACTIVATE: 'Deactivate', TERMINATE: 'Terminate' };
export const commandStates: Record<string, string> = { REQUESTED: 'waiting', ACCEPTED: 'accepted', DONE: 'done', FAILED: 'failed', SUPERSEDED: 'replaced', CANCELLED: 'withdrawn' };
const badge = (state: string) => `badge ${state === 'DONE' ? 'good' : state === 'FAILED' ? 'upper' : ''}`;

/** What the carrier was asked to do with the subscriber; nothing where it never was. */
export function Commands({ physicalId }: { physicalId: string }) {
  const { data } = useAsk(query, { physicalId });
  const may = useMay('VIEW_SUBSCRIBER', 'MANAGE_INVENTORY');
  const act = useDo(async (commandId: string, again: boolean) => {
    if (again) await mutate(retry, { input: { commandId } });
    else await mutate(cancel, { input: { commandId } });
  });
  const commands = data?.subscriber?.commands?.nodes ?? [];
  if (commands.length === 0) return null;
  return (
    <Panel id="commands" title="Commands to the carrier">
      {act.problem && <Failure problem={act.problem} />}
      <ul className="deliveries" aria-label="Commands to the carrier, the newest first">
        {commands.map(({ commandId, kind, state, reason, requestedAt, attempts, nextAttemptAt, lastError }) => (
          <li key={commandId}>
            <span className="entry-text">
              <strong>{commandKinds[kind]}</strong>
              <span className="hint"><Ago at={requestedAt} />{attempts > 0 && `, ${attempts} attempt${attempts === 1 ? '' : 's'}`}{nextAttemptAt && <>, next <Ago at={nextAttemptAt} /></>}{(reason || lastError) && `: ${reason || lastError}`}</span>
            </span>
            <span className={badge(state)}>{commandStates[state]}</span>
            {may && state === 'FAILED' && <button type="button" disabled={act.busy} aria-label={`Send ${commandKinds[kind]} again`} onClick={() => void act.run(commandId, true)}>Send again</button>}
            {may && state === 'REQUESTED' && attempts === 0 && <button type="button" disabled={act.busy} aria-label={`Withdraw ${commandKinds[kind]}`} onClick={() => void act.run(commandId, false)}>Withdraw</button>}
          </li>
        ))}
      </ul>
    </Panel>
  );
}
