import { type FormEvent, useState } from 'react';
import { useDo } from '../graph/use';
import { requestLink } from '../session';
import { Failure } from './parts';

/** Asks for a link that signs in, by mail. What follows is said alike of addresses that no user has. */
export function SendLink() {
  const [sent, setSent] = useState<{ email: string; minutes: number }>();
  const send = useDo(async (email: string) => setSent({ email, minutes: await requestLink(email) }));
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setSent(undefined);
    void send.run(String(new FormData(event.currentTarget).get('email')).trim());
  };
  return (
    <form onSubmit={submit}>
      <label>
        E-mail address
        <input name="email" type="email" required autoComplete="email" spellCheck={false} />
      </label>
      {send.problem && <Failure problem={send.problem} />}
      {sent && (
        <p className="notice" role="status">
          If {sent.email} has an account that signs in by e-mail, a link is on its way. It signs in once, within {sent.minutes} minutes, and ends those sent before.
        </p>
      )}
      <button type="submit" className={sent ? undefined : 'primary'} disabled={send.busy}>{sent ? 'Send another link' : 'Send me a link'}</button>
    </form>
  );
}
