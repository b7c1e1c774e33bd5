import { type FormEvent, useState } from 'react';
import { graphql } from '../graph/graphql';
import { useMadeFrom } from '../graph/stale';
import { mutate, readNow, useDo } from '../graph/use';
import { Dialog } from '../shell/Dialog';
import { EditFailure } from '../shell/EditFailure';
import { AlertsAndGroups, All, scopeOf } from './Choices';

const choose = graphql('mutation ChooseRecipientAlerts($input: EditRecipientInput!) { editRecipient(input: $input) { recipient { recipientId } } }');
const now = graphql('query ChoiceNow($recipientId: Int!) { recipient(by: {recipientId: $recipientId}) { version alertIds groupIds } }');

interface Props {
  recipientId: number;
  version: string;
  email: string;
  alertIds: readonly number[];
  groupIds: readonly number[];
  close: () => void;
}

/** Which alerts a recipient is notified of. */
export function RecipientChoice({ recipientId, version, email, alertIds, groupIds, close }: Props) {
  const [alerts, setAlerts] = useState<ReadonlySet<string>>(new Set(alertIds.map(String)));
  const [groups, setGroups] = useState<ReadonlySet<string>>(new Set(groupIds.map(String)));
  const [all, setAll] = useState(alertIds.length + groupIds.length === 0);
  const unsaid = !all && alerts.size + groups.size === 0;
  const made = useMadeFrom({ version, alertIds, groupIds }, async () => (await readNow(now, { recipientId })).recipient, {
    alertIds: (theirs, whole) => { setAlerts(new Set(theirs.map(String))); setAll(whole.alertIds.length + whole.groupIds.length === 0); },
    groupIds: (theirs, whole) => { setGroups(new Set(theirs.map(String))); setAll(whole.alertIds.length + whole.groupIds.length === 0); },
  });
  const save = useDo(async () => {
    const scope = scopeOf(all, { alertIds: [...alerts].map(Number), groupIds: [...groups].map(Number) });
    await made.send((expectedVersion) => mutate(choose, { input: { recipientId, expectedVersion, scope } }));
    close();
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void save.run();
  };
  return (
    <Dialog title={`What ${email} gets`} cancel={close}>
      <form className="stacked" onSubmit={submit}>
        <All name="Every alert" said={all} unsaid={unsaid} change={setAll}>Where alerts and groups are chosen, an alert must fit both.</All>
        {!all && <AlertsAndGroups alerts={alerts} setAlerts={setAlerts} groups={groups} setGroups={setGroups} />}
        <EditFailure save={save} of={made} subject={['Recipient', String(recipientId)]} />
        <p className="actions">
          <button type="button" onClick={close}>Cancel</button>
          <button type="submit" className="primary" disabled={save.busy || unsaid}>Save</button>
        </p>
      </form>
    </Dialog>
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
