import { useState } from 'react';
import { useSettled } from '../graph/use';
import { Panel } from '../shell/parts';
import { useViewer } from '../shell/viewer';
import { Copy } from '../ui/Copy';
import { useAddress } from './address';
import { isNetwork, radiusCommand } from './commands';
import { WatchFeed } from './Watch';

/** Connects a gateway: clients of RADIUS are made on the host, because their secrets are. */
export function ConnectRadius() {
  const { company } = useViewer();
  const address = useAddress();
  const [name, setName] = useState('');
  const [network, setNetwork] = useState('');
  const watched = useSettled(name.trim(), 500);
  const isWrong = network.trim() !== '' && !isNetwork(network.trim());
  return (
    <>
      <Panel id="client" title="1. Let the gateway in">
        <div className="fields two">
          <label>Name of the gateway<input maxLength={128} placeholder="pgw-london" value={name} onChange={(event) => setName(event.target.value)} /><span className="hint">It is the source of the usage.</span></label>
          <label>Addresses that it sends from<input placeholder="10.1.0.0/16" spellCheck={false} aria-invalid={isWrong} value={network} onChange={(event) => setNetwork(event.target.value)} />
            {isWrong ? <span className="fault" role="alert">Write an address, or a network such as 10.1.0.0/16.</span> : <span className="hint">One address, or a network.</span>}
          </label>
        </div>
        <p>An operator runs this on the host of the server. It prints the shared secret, once.</p>
        <Copy label="Command" text={radiusCommand(company.externalId, name.trim() || 'pgw-london', network.trim() || '10.1.0.0/16')} />
        <p className="hint">The server takes RADIUS where it runs with <code>--radius-addr</code>, such as <code>--radius-addr 0.0.0.0:1813</code>. A gateway that is known already may be left as it is.</p>
      </Panel>
      <Panel id="gateway" title="2. Enter at the gateway">
        <dl className="facts">
          <div><dt>Server</dt><dd className="mono">{address ? new URL(address.base).hostname : '…'}, or the address of <code>--radius-addr</code></dd></div>
          <div><dt>Port</dt><dd>1813 (UDP), for accounting alone</dd></div>
          <div><dt>Secret</dt><dd>what the command has printed</dd></div>
          <div><dt>Interim reports</dt><dd>every 300 seconds (Acct-Interim-Interval)</dd></div>
          <div><dt>Attributes</dt><dd>Acct-Session-Id, octets and gigawords, and 3GPP-IMSI or Calling-Station-Id</dd></div>
        </dl>
      </Panel>
      <WatchFeed source={watched}><p className="hint">A gateway with another address or another secret gets no answer; what was refused is shown here. Sessions that begin from now on are counted whole.</p></WatchFeed>
    </>
  );
}
