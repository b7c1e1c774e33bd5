import { useState } from 'react';
import { moment } from '../format/time';
import { graphql } from '../graph/graphql';
import { mutate, useAsk, useDo } from '../graph/use';
import { Dialog } from '../shell/Dialog';
import { Failure, Waiting } from '../shell/parts';
import { useViewer, useZone } from '../shell/viewer';
import { Ago } from '../ui/Ago';
import { Invited, type Invitation, invite } from './Invited';

const query = graphql(`
  query UserAccess($email: String!) {
    user(by: { email: $email }) { email isDisabled lastSignedInAt invitation { invitedAt expiresAt } sessions { sessionId way address createdAt lastUsedAt isCurrent } }
  }
`);
const withdraw = graphql('mutation WithdrawInvitation($input: WithdrawInvitationInput!) { withdrawInvitation(input: $input) { user { email } } }');
const end = graphql('mutation EndUserSessions($input: EndUserSessionsInput!) { endUserSessions(input: $input) { ended } }');
const remove = graphql('mutation DeleteUser($input: DeleteUserInput!) { deleteUser(input: $input) { user { email } } }');

/** The ways to begin a session, as people read them; a provider has its own name. */
const ways: Record<string, string> = { accessKey: 'an access key', token: 'a token', link: 'a link', mailedLink: 'a link by e-mail' };

/** How a user gets in: the invitation, the sessions, and the end of both. */
export function UserAccess({ email, close }: { email: string; close: () => void }) {
  const timeZone = useZone();
  const viewer = useViewer();
  const { data, problem } = useAsk(query, { email });
  const [made, setMade] = useState<Invitation | null>(null);
  const [removing, setRemoving] = useState(false);
  const input = { userEmail: email };
  const send = useDo(async () => setMade(await invite(email)));
  const take = useDo(async () => {
    await mutate(withdraw, { input });
    setMade(null);
  });
  const stop = useDo(async (sessionId?: string) => void (await mutate(end, { input: sessionId === undefined ? input : { ...input, sessionId } })));
  const drop = useDo(async () => {
    await mutate(remove, { input });
    close();
  });
  const user = data?.user;
  const sessions = user?.sessions ?? [];
  const invitation = user?.invitation ?? null;
  const failed = send.problem ?? take.problem ?? stop.problem ?? drop.problem ?? problem;
  return (
    <Dialog title={`Access of ${email}`} cancel={close} passing>
      <div className="stacked">
        {!user ? <Waiting label="Reading the user" /> : (
          <>
            <h3>Sign-in</h3>
            <p>{user.lastSignedInAt === null ? 'Has never signed in.' : <>Signed in last <Ago at={user.lastSignedInAt} />.</>} {invitation && <Until of={invitation} timeZone={timeZone} />}</p>
            {made && <Invited email={email} of={made} />}
            <div className="row">
              <button type="button" disabled={send.busy || user.isDisabled} onClick={() => void send.run()}>{invitation ? 'Invite again' : 'Send an invitation'}</button>
              {invitation && <button type="button" disabled={take.busy} onClick={() => void take.run()}>Withdraw the invitation</button>}
            </div>
            <h3>Sessions</h3>
            {sessions.length === 0 ? <p className="hint">Nobody is signed in as this user.</p> : (
              <ul className="plain-list">
                {sessions.map(({ sessionId, way, address, createdAt, lastUsedAt, isCurrent }) => (
                  <li key={sessionId} className="row">
                    <span>From {address ?? 'an address that was not kept'} by {ways[way] ?? way}, begun <Ago at={createdAt} />, last used <Ago at={lastUsedAt} />{isCurrent && ' (this one)'}</span>
                    <button type="button" className="quiet" disabled={stop.busy} aria-label={`End the session from ${address ?? 'an unknown address'}`} onClick={() => void stop.run(sessionId)}>End</button>
                  </li>
                ))}
              </ul>
            )}
            {sessions.length > 1 && <p><button type="button" disabled={stop.busy} onClick={() => void stop.run()}>End all sessions</button></p>}
          </>
        )}
        {failed && <Failure problem={failed} />}
        {removing && <p className="notice" role="alert">The account goes with its access keys, tokens and sessions. It cannot be undone. The audit log keeps what was done.</p>}
        <p className="actions">
          {email !== viewer.email && (removing
            ? <button type="button" className="danger" disabled={drop.busy} onClick={() => void drop.run()}>Remove {email}</button>
            : <button type="button" className="danger" onClick={() => setRemoving(true)}>Remove the user</button>)}
          <button type="button" onClick={close}>Close</button>
        </p>
      </div>
    </Dialog>
  );
}

function Until({ of, timeZone }: { of: { invitedAt: string; expiresAt: string }; timeZone: string }) {
  const over = Date.parse(of.expiresAt) <= Date.now();
  return <>Invited <Ago at={of.invitedAt} />; {over ? 'the invitation has expired.' : `the link signs in once until ${moment(of.expiresAt, timeZone)}.`}</>;
}
