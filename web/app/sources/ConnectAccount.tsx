import { useState } from 'react';
import { Empty, Panel } from '../shell/parts';
import { go, to } from '../shell/route';
import { useViewer } from '../shell/viewer';
import { Copy } from '../ui/Copy';
import { moveCommand } from './commands';
import { UpstreamForm, useMayChangeUpstreams } from './UpstreamForm';

/** Keeps the account of another server in step with here, or takes it over once by a command on the host. */
export function ConnectAccount() {
  const { company } = useViewer();
  const may = useMayChangeUpstreams();
  const [from, setFrom] = useState('');
  return (
    <>
      <Panel id="upstream" title="Keep it in step">
        <p>The other server is only read, but for nicknames and tags that are the same on both: all of the account at first and once a day, new subscribers and recent usage every few minutes. The key is sealed, and never shown again.</p>
        {may ? <UpstreamForm verb="Connect the account" done={(upstreamId) => go(to('upstream', {}, String(upstreamId)))} /> : <Empty>That needs the permissions for all that is copied: inventory, subscribers, usage and alerts.</Empty>}
      </Panel>
      <Panel id="account" title="Or take it over once, on the host of the server">
        <label className="narrow">Address<input type="url" placeholder="https://old.example" value={from} onChange={(event) => setFrom(event.target.value)} /></label>
        <p>The file <code>key.txt</code> holds an access key of that server, as <code>ID:SECRET</code>. The other side is only read.</p>
        <Copy label="Command" text={moveCommand(company.externalId, from.trim() || 'https://old.example')} />
        <p className="hint">It can be repeated, also after it was interrupted. At its end it compares both sides, and says whether clients can be switched over. Mail is sent only once <code>--recipients</code> is added.</p>
      </Panel>
    </>
  );
}
