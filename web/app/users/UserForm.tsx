import { type FormEvent, useState } from 'react';
import { graphql, type VariablesOf } from '../graph/graphql';
import { useMadeFrom } from '../graph/stale';
import { mutate, readNow, useDo } from '../graph/use';
import { nouns } from '../picker/choices';
import { PickSome } from '../picker/Picker';
import { Dialog } from '../shell/Dialog';
import { EditFailure } from '../shell/EditFailure';
import { useMay, useViewer } from '../shell/viewer';
import { Sheet } from '../ui/Sheet';
import { permissionName } from './Frame';
import { type Invitation, Invited, invite } from './Invited';

const create = graphql('mutation CreateUser($input: CreateUserInput!) { createUser(input: $input) { user { email } } }');
const edit = graphql('mutation EditUser($input: EditUserInput!) { editUser(input: $input) { user { email } } }');
const now = graphql(`
  query UserNow($email: String!, $groups: Boolean!) {
    users(first: 1, filter: { email: { eq: $email } }) {
      nodes { version permissions isDisabled groups(first: 100) @include(if: $groups) { nodes { groupId name } pageInfo { hasNextPage } } }
    }
  }
`);

type Permissions = VariablesOf<typeof create>['input']['permissions'];

interface User {
  version: string;
  email: string;
  permissions: string[];
  isDisabled: boolean;
  /** The first 100. */
  groups?: { nodes: { groupId: number; name: string }[]; pageInfo: { hasNextPage: boolean } } | null;
}

/** Adds a user, who may be invited, or changes one: permissions, groups, and whether the account may be used. */
export function UserForm({ of, close }: { of: User | null; close: () => void }) {
  const { permissions: own } = useViewer();
  const maySeeGroups = useMay('VIEW_SUBSCRIBER');
  const attached = of?.groups?.nodes ?? [];
  // What is not shown here would be lost by saving.
  const hasMore = of?.groups?.pageInfo.hasNextPage ?? false;
  const mayChoose = (maySeeGroups || of === null) && !hasMore;
  const [email, setEmail] = useState('');
  const [permissions, setPermissions] = useState<ReadonlySet<string>>(new Set(of?.permissions));
  const [groups, setGroups] = useState<ReadonlySet<string>>(new Set(attached.map(({ groupId }) => String(groupId))));
  // The form has no default for what a new user sees.
  const [all, setAll] = useState<boolean | null>(of === null ? null : of.groups?.nodes.length === 0);
  const [asking, setAsking] = useState(true);
  const [isStored, setStored] = useState(false);
  const [invited, setInvited] = useState<Invitation | null>(null);
  const [disabled, setDisabled] = useState(of?.isDisabled ?? false);
  const unsaid = mayChoose && !all && (all === null || groups.size === 0);
  const address = email.trim().toLowerCase();
  const made = useMadeFrom(of, async () => (await readNow(now, { email: of!.email, groups: maySeeGroups })).users?.nodes[0], {
    permissions: (theirs) => setPermissions(new Set(theirs)), isDisabled: setDisabled,
    groups: (theirs) => {
      setGroups(new Set(theirs?.nodes.map(({ groupId }) => String(groupId))));
      setAll(theirs?.nodes.length === 0);
    },
  });
  const save = useDo(async () => {
    const scope = all ? { all: true } : { groupIds: [...groups].map(Number) };
    const rest = { permissions: [...permissions] as Permissions, isDisabled: disabled };
    if (of === null) {
      // An invitation that failed is tried again without a second account.
      if (!isStored) await mutate(create, { input: { email: address, scope, ...rest } });
      setStored(true);
      if (asking) {
        setInvited(await invite(address));
        return;
      }
    } else await made.send((expectedVersion) => mutate(edit, { input: { userEmail: of.email, expectedVersion, ...(mayChoose && { scope }), ...rest } }));
    close();
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void save.run();
  };
  if (invited !== null) {
    return (
      <Dialog title={`${address} is invited`} cancel={close} passing>
        <Invited email={address} of={invited} />
        <p className="actions"><button type="button" className="primary" autoFocus onClick={close}>Done</button></p>
      </Dialog>
    );
  }
  return (
    <Sheet title={of === null ? 'New user' : of.email} cancel={close}>
      <form className="stacked" onSubmit={submit}>
        {of === null && <label>E-mail address<input type="email" required autoFocus maxLength={254} readOnly={isStored} value={email} onChange={(event) => setEmail(event.target.value)} /></label>}
        <fieldset className="choices">
          <legend>Permissions</legend>
          {[...new Set([...own, ...permissions])].map((one) => (
            <label key={one} className="inline"><input type="checkbox" checked={permissions.has(one)} onChange={(event) => setPermissions(turned(permissions, one, event.target.checked))} /> {permissionName(one)}</label>
          ))}
        </fieldset>
        {hasMore && <p className="hint">The user is attached to more than 100 groups, which are changed by the API.</p>}
        {mayChoose && (
          <fieldset className="choices">
            <legend>What the user sees</legend>
            <label className="inline"><input type="radio" name="sees" checked={all === true} disabled={isStored} onChange={() => setAll(true)} /> The whole company</label>
            <label className="inline"><input type="radio" name="sees" checked={all === false} disabled={isStored} onChange={() => setAll(false)} /> These groups</label>
            {all === false && maySeeGroups && <PickSome of={nouns.group} label="Groups" chosen={groups} change={setGroups} gone={(key) => `Group ${key}`} />}
            {unsaid && <p className="hint" role="status">Choose the whole company, or at least one group.</p>}
          </fieldset>
        )}
        {of === null && <label className="inline"><input type="checkbox" checked={asking} onChange={(event) => setAsking(event.target.checked)} /> Invite by a link that signs in once</label>}
        {of !== null && <label className="inline"><input type="checkbox" checked={disabled} onChange={(event) => setDisabled(event.target.checked)} /> Disabled: the user cannot sign in</label>}
        <EditFailure save={save} of={made} subject={['User', of?.email ?? '']} />
        <p className="actions">
          <button type="button" onClick={close}>Cancel</button>
          <button type="submit" className="primary" disabled={save.busy || unsaid}>{of !== null ? 'Save' : asking ? 'Invite' : 'Add'}</button>
        </p>
      </form>
    </Sheet>
  );
}

function turned<T>(all: ReadonlySet<T>, one: T, on: boolean): ReadonlySet<T> {
  const next = new Set(all);
  if (on) next.add(one);
  else next.delete(one);
  return next;
}
