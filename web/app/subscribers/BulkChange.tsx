import { type FormEvent, useState } from 'react';
import { count } from '../format/units';
import { graphql, type VariablesOf } from '../graph/graphql';
import { mutate, useDo } from '../graph/use';
import { Forecast } from '../operations/Effects';
import { useOperation } from '../operations/operation';
import { Results } from '../operations/Results';
import { startDryRun } from '../operations/StartDryRun';
import { type Policy, policies, Progress, runs } from '../operations/words';
import { nouns } from '../picker/choices';
import { Pick, Suggested } from '../picker/Picker';
import { Failure } from '../shell/parts';
import { go, to } from '../shell/route';
import { useViewer } from '../shell/viewer';
import { given, Reason } from '../ui/Reason';
import { Sheet } from '../ui/Sheet';
import type { Filter } from './filters';

const tried = graphql('mutation TryChange($input: StartSubscriberChangeInput!) { startSubscriberChange(input: $input) { isInventoryOnly operation { operationId } } }');

type Input = VariablesOf<typeof tried>['input'];
type Change = NonNullable<Input['change']>;

interface Kind {
  name: string;
  /** The carrier has a part in it, where the company has a provider of commands. */
  carrier?: boolean;
  needs: 'UPDATE_THE_DETAILS_OF_A_SUBSCRIBER' | 'MANAGE_INVENTORY';
  /** What is chosen or written; nothing for changes without a value. */
  value?: 'tag' | 'group' | 'tariff' | 'pattern';
  change: (value: string) => Change;
}

const kinds: Record<string, Kind> = {
  addTag: { name: 'Put a tag on', needs: 'UPDATE_THE_DETAILS_OF_A_SUBSCRIBER', value: 'tag', change: (tag) => ({ addTags: [tag] }) },
  removeTag: { name: 'Take a tag off', needs: 'UPDATE_THE_DETAILS_OF_A_SUBSCRIBER', value: 'tag', change: (tag) => ({ removeTags: [tag] }) },
  nickname: { name: 'Name by a pattern', needs: 'UPDATE_THE_DETAILS_OF_A_SUBSCRIBER', value: 'pattern', change: (nicknamePattern) => ({ nicknamePattern }) },
  move: { name: 'Move to a group', needs: 'MANAGE_INVENTORY', value: 'group', change: (group) => ({ groupId: group === 'none' ? null : Number(group) }) },
  tariff: { name: 'Set the tariff', needs: 'MANAGE_INVENTORY', value: 'tariff', change: (tariffName) => ({ tariffName }) },
  bar: { name: 'Bar', carrier: true, needs: 'MANAGE_INVENTORY', change: () => ({ isBarred: true }) },
  unbar: { name: 'Unbar', carrier: true, needs: 'MANAGE_INVENTORY', change: () => ({ isBarred: false }) },
  terminate: { name: 'Terminate', carrier: true, needs: 'MANAGE_INVENTORY', change: () => ({ terminateDate: new Date().toISOString() }) },
};

interface Props {
  title: string;
  ids: ReadonlySet<string>;
  /** All that fit the filter are changed, instead of those that are named. */
  matching?: boolean;
  filter?: Filter;
  close: () => void;
}

/** Chooses a change of subscribers, shows what it would do, and starts it. */
export default function BulkChange({ title, ids, matching = false, filter, close }: Props) {
  const { permissions } = useViewer();
  const possible = Object.entries(kinds).filter(([, { needs }]) => permissions.includes(needs));
  const [key, setKey] = useState(possible[0]?.[0] ?? '');
  const [value, setValue] = useState('');
  const [policy, setPolicy] = useState<Policy>('REJECT_FAILED_ROWS');
  const [reason, setReason] = useState('');
  const [dryRun, setDryRun] = useState<{ id: string; only: boolean } | null>(null);
  const kind = kinds[key];
  const check = useDo(async () => {
    const which = matching ? (filter ? { where: filter } : { all: true }) : { physicalIds: [...ids] };
    const input = { ...which, change: kind!.change(value.trim()), errorPolicy: policy, validateOnly: true, ...given(reason) } as Input;
    const { startSubscriberChange } = await mutate(tried, { input });
    if (startSubscriberChange) setDryRun({ id: startSubscriberChange.operation.operationId, only: Boolean(kind!.carrier) && startSubscriberChange.isInventoryOnly });
  });
  const anew = (change: () => void) => {
    setDryRun(null);
    change();
  };
  const written = { value, change: (next: string) => anew(() => setValue(next)) };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void check.run();
  };
  return (
    <Sheet title={title} cancel={close}>
      <form className="stacked" onSubmit={submit}>
        <label>Change
          <select autoFocus value={key} onChange={(event) => anew(() => { setKey(event.target.value); setValue(''); })}>
            {possible.map(([key, { name }]) => <option key={key} value={key}>{name}</option>)}
          </select>
        </label>
        {kind?.value === 'tag' && <Suggested of={nouns.tag} label="Tag" isRequired maxLength={255} {...written} />}
        {kind?.value === 'pattern' && (
          <label>Pattern
            <input required maxLength={255} value={value} onChange={(event) => written.change(event.target.value)} placeholder="van {n}" />
            <span className="hint">{'{n}'} is the number in the operation; {'{physicalId}'}, {'{subscriberId}'}, {'{imsi}'} and {'{nickname}'} are those of the subscriber.</span>
          </label>
        )}
        {kind?.value === 'group' && <Pick of={nouns.group} label="Group" isRequired first={[{ key: 'none', text: 'no group' }]} {...written} />}
        {kind?.value === 'tariff' && <Pick of={nouns.tariff} label="Tariff" isRequired {...written} />}
        <label>When some fail
          <select value={policy} onChange={(event) => anew(() => setPolicy(event.target.value as Policy))}>
            {Object.entries(policies).map(([key, name]) => <option key={key} value={key}>{name}</option>)}
          </select>
        </label>
        <Reason value={reason} change={setReason} />
        {check.problem && <Failure problem={check.problem} />}
        {dryRun === null && (
          <p className="actions">
            <button type="button" onClick={close}>Cancel</button>
            <button type="submit" className="primary" disabled={check.busy || !kind}>Show what would change</button>
          </p>
        )}
      </form>
      {dryRun !== null && <DryRun of={dryRun} reason={reason} close={close} />}
    </Sheet>
  );
}

function DryRun({ of: { id, only }, reason, close }: { of: { id: string; only: boolean }; reason: string; close: () => void }) {
  const { of, problem, reload } = useOperation(id);
  const [silence, setSilence] = useState(false);
  const run = useDo(async () => go(to('operation', {}, await startDryRun(of!, silence, reason))));
  if (problem) return <Failure problem={problem} retry={reload} />;
  if (of === null) return null;
  const blocked = of.errorPolicy === 'REJECT_EVERYTHING' && of.failed > 0;
  return (
    <div className="stacked">
      <Progress of={of} />
      {only && <p className="notice">Only the inventory changes: your company has no provider of commands, so that no carrier is asked.</p>}
      {!runs(of.state) && <Forecast of={of} isSilent={silence} silence={setSilence} />}
      {!runs(of.state) && <Results id={id} params={new URLSearchParams(of.failed > 0 ? { outcome: 'FAILED' } : {})} isDryRun />}
      {run.problem && <Failure problem={run.problem} />}
      <p className="actions">
        <button type="button" onClick={close}>Cancel</button>
        <button type="button" className="primary" disabled={runs(of.state) || run.busy || blocked || of.changed === 0} onClick={() => void run.run()}>Change {count(of.changed)}</button>
      </p>
    </div>
  );
}
