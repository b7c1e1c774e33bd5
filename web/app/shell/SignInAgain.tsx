import { signOut } from '../session';
import { useDo } from '../graph/use';
import { Dialog } from './Dialog';
import { Failure } from './parts';
import { WaysIn } from './SignIn';

const stay = () => undefined;

/** Asks the person to sign in again over the page, which keeps what was typed. */
export function SignInAgain({ email }: { email: string }) {
  const leave = useDo(signOut);
  return (
    <Dialog title="The session has ended" className="sign-in-again" passing cancel={stay}>
      <p>Sign in again as {email} to go on. What you typed is kept.</p>
      <div className="sign-in">
        <WaysIn elsewhere />
      </div>
      {leave.problem && <Failure problem={leave.problem} />}
      <p className="actions">
        <button type="button" disabled={leave.busy} onClick={() => void leave.run()}>Sign out</button>
      </p>
    </Dialog>
  );
}
