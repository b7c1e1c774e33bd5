import { type FormEvent, useState } from 'react';
import { bytes, useSystem } from '../format/units';
import { graphql } from '../graph/graphql';
import { mutate, useAsk, useDo } from '../graph/use';
import { Dialog } from '../shell/Dialog';
import { Failure, Loading } from '../shell/parts';
import { kinds } from './conditions';
import { rules } from './words';

const offered = graphql(`
  query AlertsToChoose($names: Boolean!) {
    alerts(first: 100) { nodes { alertId ruleType target upperThreshold } }
    conditionAlerts(first: 100) { nodes { alertId ruleType target kind } }
    groups(first: 100) @include(if: $names) { nodes { groupId name } }
  }
`);
const choose = graphql('mutation ChooseRecipientAlerts($input: ChooseRecipientAlertsInput!) { chooseRecipientAlerts(input: $input) { recipient { recipientId } } }');

interface Props {
  recipientId: number;
  email: string;
  alertIds: readonly number[];
  groupIds: readonly number[];
  names: boolean;
  close: () => void;
}

/** Which alerts a recipient is notified of. */
export function RecipientChoice({ recipientId, email, alertIds, groupIds, names, close }: Props) {
  const { data, problem } = useAsk(offered, { names });
  const [alerts, setAlerts] = useState<ReadonlySet<number>>(new Set(alertIds));
  const [groups, setGroups] = useState<ReadonlySet<number>>(new Set(groupIds));
  useSystem();
  const save = useDo(async () => {
    await mutate(choose, { input: { recipientId, alertIds: [...alerts], groupIds: [...groups] } });
    close();
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void save.run();
  };
  const target = (of: { ruleType: string; target: string }) => `${rules[of.ruleType]}${of.target && ` ${of.target}`}`;
  const known = [
    ...(data?.alerts?.nodes ?? []).map((one) => ({ id: one.alertId, text: `${target(one)}: above ${bytes(one.upperThreshold)}` })),
    ...(data?.conditionAlerts?.nodes ?? []).map((one) => ({ id: one.alertId, text: `${target(one)}: ${kinds[one.kind]?.toLowerCase()}` })),
  ];
  const gone = alertIds.filter((id) => data && !known.some((one) => one.id === id)).map((id) => ({ id, text: `Alert ${id}, which is not offered here or was deleted` }));
  return (
    <Dialog title={`What ${email} gets`} cancel={close}>
      <form className="stacked" onSubmit={submit}>
        <p className="hint">Every alert where nothing is chosen. Where alerts and groups are, an alert must fit both.</p>
        {problem && <Failure problem={problem} />}
        {!data && !problem && <Loading label="Reading alerts and groups" />}
        <Choices legend="Alerts" all={[...known, ...gone]} chosen={alerts} change={setAlerts} />
        <Choices legend="Groups" all={(data?.groups?.nodes ?? []).map(({ groupId, name }) => ({ id: groupId, text: name }))} chosen={groups} change={setGroups} />
        {save.problem && <Failure problem={save.problem} />}
        <p className="actions">
          <button type="button" onClick={close}>Cancel</button>
          <button type="submit" className="primary" disabled={save.busy || !data}>Save</button>
        </p>
      </form>
    </Dialog>
  );
}

interface ChoicesProps {
  legend: string;
  all: { id: number; text: string }[];
  chosen: ReadonlySet<number>;
  change: (chosen: ReadonlySet<number>) => void;
}

function Choices({ legend, all, chosen, change }: ChoicesProps) {
  if (all.length === 0) return null;
  const turn = (id: number, on: boolean) => change(new Set(on ? [...chosen, id] : [...chosen].filter((one) => one !== id)));
  return (
    <fieldset className="choices">
      <legend>{legend}</legend>
      {all.map(({ id, text }) => (
        <label key={id} className="inline"><input type="checkbox" checked={chosen.has(id)} onChange={(event) => turn(id, event.target.checked)} /> {text}</label>
      ))}
    </fieldset>
  );
}

/** What a recipient chose, in words; null for all. */
export function choiceOf(alertIds: readonly number[], groupIds: readonly number[]): string | null {
  const parts = [
    alertIds.length > 0 && `${alertIds.length} alert${alertIds.length === 1 ? '' : 's'}`,
    groupIds.length > 0 && `${groupIds.length} group${groupIds.length === 1 ? '' : 's'}`,
  ].filter(Boolean);
  return parts.length === 0 ? null : `Only ${parts.join(' in ')}.`;
}
