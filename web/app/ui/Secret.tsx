import { type ReactNode, useState } from 'react';
import { useDo } from '../graph/use';
import { Failure, Panel } from '../shell/parts';
import { copyText } from './Copy';

interface Props {
  title: string;
  /** What is shown, by its name. */
  facts: Record<string, string>;
  /** What the button to copy all is called. */
  copies: string;
  close: () => void;
  children?: ReactNode;
}

/** A secret that the server shows once, with what belongs to it. */
export function Secret({ title, facts, copies, close, children }: Props) {
  const [copied, setCopied] = useState(false);
  const copy = useDo(async () => {
    await copyText(Object.values(facts).join(' '));
    setCopied(true);
  });
  return (
    <Panel id="made" title={title} aside={<button type="button" className="quiet" onClick={close}>Done</button>}>
      <p className="notice" role="status">Keep the secret now: it cannot be shown again.</p>
      <dl className="facts">
        {Object.entries(facts).map(([name, value]) => <div key={name}><dt>{name}</dt><dd className="mono">{value}</dd></div>)}
      </dl>
      {children}
      <p className="actions"><button type="button" onClick={() => void copy.run()}>{copied ? 'Copied' : copies}</button></p>
      {copy.problem && <Failure problem={copy.problem} />}
    </Panel>
  );
}
