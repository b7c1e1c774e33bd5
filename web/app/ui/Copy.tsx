import { useEffect, useState } from 'react';
import { Problem } from '../graph/problem';
import { useDo } from '../graph/use';
import { Failure } from '../shell/parts';

/** Copies a text. Browsers give no way to it on pages that came without HTTPS from another machine. */
export async function copyText(text: string) {
  if (!navigator.clipboard) throw new Problem('', 'This browser copies only from pages over HTTPS. Select the text, and copy it yourself.');
  await navigator.clipboard.writeText(text);
}

/** For how many milliseconds a button says that it has copied. */
const noted = 4_000;

/** A text to take elsewhere, such as a command or an address. */
export function Copy({ label, text }: { label: string; text: string }) {
  const [copied, setCopied] = useState<string | null>(null);
  const copy = useDo(async () => {
    await copyText(text);
    setCopied(text);
  });
  useEffect(() => {
    if (copied === null) return;
    const timer = setTimeout(() => setCopied(null), noted);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <div className="copy">
      <div className="copy-head">
        <span className="hint">{label}</span>
        <button type="button" className="quiet" aria-label={`Copy ${label.charAt(0).toLowerCase()}${label.slice(1)}`} onClick={() => void copy.run()}>{copied === text ? 'Copied' : 'Copy'}</button>
      </div>
      <pre className="payload" tabIndex={0} role="group" aria-label={label}><code>{text}</code></pre>
      {copy.problem && <Failure problem={copy.problem} />}
    </div>
  );
}
