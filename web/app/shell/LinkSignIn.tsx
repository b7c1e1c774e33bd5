import { useEffect, useState } from 'react';
import { useDo } from '../graph/use';
import { declineLink, type LinkTarget, readLink, signInByLink, useSession } from '../session';
import { Mark } from './icons';
import { Failure, Loading } from './parts';
import { SendLink } from './SendLink';

/** Shows whom a link signs in. The link is used up when the person agrees: programs that look through mails open links too. */
export function LinkSignIn({ code, signedIn }: { code: string; signedIn: boolean }) {
  const { ways } = useSession();
  const [target, setTarget] = useState<LinkTarget>();
  const { run, problem: unreadable } = useDo(async () => setTarget(await readLink(code)));
  const enter = useDo(signInByLink);
  useEffect(() => void run(), [run]);
  const problem = enter.problem ?? unreadable;
  return (
    <main className="sign-in">
      <div className="card">
        <p className="brand"><Mark /> simgraph</p>
        <h1>Sign in by link</h1>
        {target && <p>This link signs you in as <strong>{target.email}</strong> of <strong>{target.company}</strong>.{signedIn && ' It replaces the session that you have now.'}</p>}
        {problem ? <Failure problem={problem} /> : !target && <Loading label="Reading the link" />}
        {target && !problem && <button type="button" className="primary" disabled={enter.busy} onClick={() => void enter.run(code)}>Sign in</button>}
        {problem && ways.links && <SendLink />}
        <button type="button" onClick={declineLink}>{signedIn ? 'Stay signed in' : 'Other ways to sign in'}</button>
      </div>
    </main>
  );
}
