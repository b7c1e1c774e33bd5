import { type FormEvent, useEffect, useState } from 'react';
import { useDo } from '../graph/use';
import { type Ways, useSession } from '../session';
import { offersDemo, signInByKey, signInByToken, signInToDemo } from '../signin';
import { Mark } from './icons';
import { Failure } from './parts';
import { SendLink } from './SendLink';

type Way = 'link' | 'key' | 'token';

/** The way in: a provider, a link by mail, an access key, a token, or the demo company where the server has one. */
export function SignIn({ notice }: { notice: string | null }) {
  return (
    <main className="sign-in">
      <div className="card">
        <p className="brand"><Mark /> simgraph</p>
        <h1>Sign in to your fleet</h1>
        {notice && <p className="notice" role="status">{notice}</p>}
        <WaysIn />
        <p className="hint">You are signed in in all tabs of this browser until you sign out, do not use it for a while, or the working day is over.</p>
      </div>
    </main>
  );
}

/** The ways to sign in; elsewhere opens providers in another window, so that this one stays. */
export function WaysIn({ elsewhere = false }: { elsewhere?: boolean }) {
  const { ways } = useSession();
  const demo = useDemo();
  return (
    <>
      {demo && <Demo />}
      {ways.providers.length > 0 && <Providers providers={ways.providers} elsewhere={elsewhere} />}
      {ways.keys ? <ByCredential links={ways.links} /> : <Emergency />}
    </>
  );
}

/** The providers that people sign in at. They come back to the place where they are. */
function Providers({ providers, elsewhere }: { providers: Ways['providers']; elsewhere: boolean }) {
  return (
    <div className="providers">
      {providers.map(({ title, path }) => (
        <a key={path} href={`${path}?to=${encodeURIComponent(location.hash)}`} target={elsewhere ? '_blank' : undefined}>Sign in with {title}</a>
      ))}
    </div>
  );
}

function ByCredential({ links }: { links: boolean }) {
  const [way, setWay] = useState<Way>(links ? 'link' : 'key');
  return (
    <>
      <div className="switch wide" role="group" aria-label="How to sign in">
        {links && <button type="button" aria-pressed={way === 'link'} onClick={() => setWay('link')}>E-mail</button>}
        <button type="button" aria-pressed={way === 'key'} onClick={() => setWay('key')}>Access key</button>
        <button type="button" aria-pressed={way === 'token'} onClick={() => setWay('token')}>Access token</button>
      </div>
      {way === 'link' ? <SendLink /> : way === 'key' ? <ByKey /> : <ByToken />}
    </>
  );
}

/** The way of the operator where the provider does not answer. */
function Emergency() {
  return (
    <details>
      <summary>Sign in with a token of the operator</summary>
      <ByToken />
    </details>
  );
}

function useDemo(): boolean {
  const [demo, setDemo] = useState(false);
  useEffect(() => {
    let gone = false;
    offersDemo().then((offered) => gone || setDemo(offered), () => undefined);
    return () => {
      gone = true;
    };
  }, []);
  return demo;
}

function Demo() {
  const open = useDo(signInToDemo);
  return (
    <div className="demo">
      <p>This server runs a demo company with made-up subscribers and usage.</p>
      <button type="button" className="primary" disabled={open.busy} onClick={() => void open.run()}>Open the demo company</button>
      {open.problem && <Failure problem={open.problem} />}
    </div>
  );
}

function ByKey() {
  const enter = useDo(signInByKey);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    void enter.run(String(form.get('id')).trim(), String(form.get('secret')).trim());
  };
  return (
    <form onSubmit={submit}>
      <label>
        Access key
        <input name="id" required autoComplete="username" spellCheck={false} />
      </label>
      <label>
        Secret
        <input name="secret" type="password" required autoComplete="current-password" />
      </label>
      {enter.problem && <Failure problem={enter.problem} />}
      <button type="submit" className="primary" disabled={enter.busy}>Sign in</button>
      <p className="hint">An administrator makes one with <code>simgraph key create --user you@company.example</code>.</p>
    </form>
  );
}

function ByToken() {
  const enter = useDo(signInByToken);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    void enter.run(String(new FormData(event.currentTarget).get('token')).trim().replace(/^Bearer\s+/i, ''));
  };
  return (
    <form onSubmit={submit}>
      <label>
        Access token
        <input name="token" type="password" required autoComplete="off" />
      </label>
      {enter.problem && <Failure problem={enter.problem} />}
      <button type="submit" className="primary" disabled={enter.busy}>Sign in</button>
      <p className="hint">
        One is printed by <code>simgraph token --user you@company.example</code>.
      </p>
    </form>
  );
}
