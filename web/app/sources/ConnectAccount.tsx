import { useState } from 'react';
import { Panel } from '../shell/parts';
import { useViewer } from '../shell/viewer';
import { Copy } from '../ui/Copy';
import { moveCommand } from './commands';

/** Takes over the account of another server, by a command on the host. */
export function ConnectAccount() {
  const { company } = useViewer();
  const [from, setFrom] = useState('');
  return (
    <Panel id="account" title="On the host of the server">
      <label className="narrow">Address of the other server<input type="url" placeholder="https://old.example" value={from} onChange={(event) => setFrom(event.target.value)} /></label>
      <p>The file <code>key.txt</code> holds an access key of that server, as <code>ID:SECRET</code>. The other side is only read.</p>
      <Copy label="Command" text={moveCommand(company.externalId, from.trim() || 'https://old.example')} />
      <p className="hint">It can be repeated, also after it was interrupted. At its end it compares both sides, and says whether clients can be switched over. Mail is sent only once <code>--recipients</code> is added.</p>
    </Panel>
  );
}
