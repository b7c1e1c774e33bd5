import { useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { graphql } from '../graph/graphql';
import { sendMutation, useAsk, useDo } from '../graph/use';
import { ago, momentInZone } from '../format/time';
import { Failure, Panel } from '../shell/parts';
import { useMay, useViewer, useZone } from '../shell/viewer';

interface Recipient {
  recipientId: number;
  email: string;
  suppressedSince: string | null;
  suppressedReason: 'REFUSED' | 'UNSUBSCRIBED' | null;
  suppressedDetail: string | null;
}

const query = graphql(`query SuppressedMail {
  recipients(first: 100, filter: { suppressedSince: { ne: null } }) { nodes { recipientId email suppressedSince suppressedReason suppressedDetail } }
}`);
const restore = graphql(`mutation RestoreRecipient($recipientId: Int!) {
  restoreRecipient(input: {recipientId: $recipientId}) { mails alerts }
}`);

/** Who gets no alert mail any more, and why. It is not there when everybody does, or the viewer may not see recipients. */
export function SuppressedMail() {
  const may = useMay('VIEW_MONITORING_ALERTS', 'VIEW_A_USERS_DETAILS');
  const { isRestricted } = useViewer();
  const asked = useAsk(may && !isRestricted ? query : null);
  const [done, setDone] = useState('');
  const again = useDo(async ({ recipientId, email }: Recipient) => {
    const { mails, alerts } = (await sendMutation(restore, { recipientId })).restoreRecipient!;
    const text = `${email} gets mail again${mails + alerts > 0 ? `, also what was held back: ${counted(mails, 'mail')}, ${counted(alerts, 'alert')}` : ''}.`;
    flushSync(() => setDone(text));
    asked.reload();
    status.current?.focus(); // the button that had the focus is about to go
  });
  const status = useRef<HTMLParagraphElement>(null);
  const suppressed = asked.data?.recipients?.nodes ?? [];
  const failed = asked.problem?.code === 'FORBIDDEN' ? undefined : asked.problem;
  if (suppressed.length === 0 && !done && !failed) return null;
  return (
    <Panel id="suppressed" title={suppressed.length > 0 ? `Mail to ${counted(suppressed.length, 'recipient')} is suppressed` : failed ? 'Recipients of mail' : 'Mail goes to every recipient'}>
      {failed && <Failure problem={failed} retry={asked.reload} />}
      <p className="hint" role="status" ref={status} tabIndex={-1} hidden={!done}>{done}</p>
      {again.problem && <Failure problem={again.problem} />}
      <ul className="suppressed">
        {suppressed.map((one) => (
          <Suppressed key={one.recipientId} recipient={one} busy={again.busy} restore={() => void again.run(one)} />
        ))}
      </ul>
    </Panel>
  );
}

const counted = (n: number, noun: string) => `${n} ${noun}${n === 1 ? '' : 's'}`;

function Suppressed({ recipient: { email, suppressedSince, suppressedReason, suppressedDetail }, busy, restore }: { recipient: Recipient; busy: boolean; restore: () => void }) {
  const timeZone = useZone();
  return (
    <li>
      <span className="entry-text">
        <strong>{email}</strong>
        <span className="hint">{suppressedReason === 'UNSUBSCRIBED' ? 'The recipient unsubscribed.' : `A mail server refused the address${suppressedDetail ? `: ${suppressedDetail}` : ''}`}</span>
      </span>
      {suppressedSince && <time className="hint" dateTime={suppressedSince} title={momentInZone(suppressedSince, timeZone)}>{ago(suppressedSince)}</time>}
      {suppressedReason === 'REFUSED' && <button type="button" disabled={busy} aria-label={`Send again to ${email}`} onClick={restore}>Send again</button>}
    </li>
  );
}
