import { useDo } from '../graph/use';
import { declineOffer, replaceSession } from '../session';
import { Dialog } from './Dialog';
import { Failure } from './parts';

/** Asks whether the token of a link may replace the session. */
export function OfferedSession({ token, email }: { token: string; email: string }) {
  const replace = useDo(() => replaceSession(token));
  return (
    <Dialog title="Sign in with the token of this link?" passing cancel={declineOffer}>
      <p>You are signed in as {email}. The link holds the access token of another session, which would replace yours in this browser.</p>
      {replace.problem && <Failure problem={replace.problem} />}
      <p className="actions">
        <button type="button" autoFocus onClick={declineOffer}>Stay signed in</button>
        <button type="button" disabled={replace.busy} onClick={() => void replace.run()}>Sign in with the link</button>
      </p>
    </Dialog>
  );
}
