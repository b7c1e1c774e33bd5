import { type FormEvent, useState } from 'react';
import { graphql } from '../graph/graphql';
import { useMadeFrom } from '../graph/stale';
import { mutate, readNow, useDo } from '../graph/use';
import { Dialog } from '../shell/Dialog';
import { EditFailure } from '../shell/EditFailure';
import { Failure } from '../shell/parts';
import { go, to } from '../shell/route';
import { useMay } from '../shell/viewer';

const create = graphql('mutation CreateGroup($input: CreateGroupInput!) { createGroup(input: $input) { group { groupId } } }');
const edit = graphql('mutation EditGroupOnPage($input: EditGroupInput!) { editGroup(input: $input) { group { groupId name } } }');
const now = graphql('query GroupNow($groupId: Int!) { group(by: {groupId: $groupId}) { version name isTariffHidden } }');
const remove = graphql('mutation DeleteGroup($input: DeleteGroupInput!) { deleteGroup(input: $input) { group { groupId } } }');

interface Props {
  /** The group that is changed; null for a new one. */
  of: { groupId: number; version: string; name: string; isTariffHidden: boolean } | null;
  close: () => void;
}

/** Adds a group, changes one, or removes one that never had a subscriber. */
export function GroupForm({ of, close }: Props) {
  const mayManage = useMay('MANAGE_INVENTORY');
  const mayRename = useMay('UPDATE_THE_DETAILS_OF_A_SUBSCRIBER');
  const [name, setName] = useState(of?.name ?? '');
  const [hides, setHides] = useState(of?.isTariffHidden ?? false);
  const made = useMadeFrom(of, async () => (await readNow(now, { groupId: of!.groupId })).group, { name: setName, isTariffHidden: setHides });
  const save = useDo(async () => {
    if (of === null) {
      const { createGroup } = await mutate(create, { input: { name: name.trim(), isTariffHidden: hides } });
      if (createGroup) go(to('group', {}, String(createGroup.group.groupId)));
    } else await made.send((expectedVersion) => mutate(edit, { input: { groupId: of.groupId, expectedVersion, ...(mayRename && { name: name.trim() }), ...(mayManage && { isTariffHidden: hides }) } }));
    close();
  });
  const drop = useDo(async () => {
    await mutate(remove, { input: { groupId: of!.groupId } });
    go(to('groups'));
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void save.run();
  };
  return (
    <Dialog title={of === null ? 'New group' : mayManage ? 'Edit the group' : 'Rename the group'} cancel={close}>
      <form className="stacked" onSubmit={submit}>
        <input aria-label="Name" placeholder="Name" required maxLength={256} autoFocus readOnly={of !== null && !mayRename} value={name} onChange={(event) => setName(event.target.value)} />
        {mayManage && <label className="inline"><input type="checkbox" checked={hides} onChange={(event) => setHides(event.target.checked)} /> Hide tariffs from its users</label>}
        {drop.problem ? <Failure problem={drop.problem} /> : <EditFailure save={save} of={made} subject={['Group', String(of?.groupId)]} />}
        <p className="actions">
          {of !== null && mayManage && <button type="button" disabled={drop.busy} onClick={() => void drop.run()}>Remove</button>}
          <button type="button" onClick={close}>Cancel</button>
          <button type="submit" className="primary" disabled={save.busy || name.trim() === ''}>{of === null ? 'Add' : mayManage ? 'Save' : 'Rename'}</button>
        </p>
      </form>
    </Dialog>
  );
}
