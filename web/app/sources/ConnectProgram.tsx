import { useState } from 'react';
import { graphql } from '../graph/graphql';
import { useAsk, useSettled } from '../graph/use';
import { Panel } from '../shell/parts';
import { to } from '../shell/route';
import { useMay } from '../shell/viewer';
import { Copy } from '../ui/Copy';
import { useAddress } from './address';
import { exampleRecord, mutationCommand, recordCommand, tokenCommand } from './commands';
import { WatchFeed } from './Watch';

const someone = graphql('query SomeSubscriber { subscribers(first: 1, orderBy: [{ field: CONNECTION_DATE, direction: DESC }]) { nodes { physicalId } } }');

/** Shows how a program sends usage, and its first records as they arrive. */
export function ConnectProgram() {
  const address = useAddress();
  const maySee = useMay('VIEW_SUBSCRIBER');
  const mayKeys = useMay('MANAGE_ACCESS_KEYS');
  const { data, problem } = useAsk(maySee ? someone : null);
  const [name, setName] = useState('my-program');
  const [at] = useState(() => new Date());
  const source = useSettled(name.trim(), 500);
  if (!address || (maySee && !data && !problem)) return null; // the commands name a subscriber
  const record = exampleRecord(name.trim() || 'my-program', data?.subscribers?.nodes[0]?.physicalId ?? '8944110068256270054', at);
  return (
    <>
      <Panel id="key" title="1. A key">
        <p>{mayKeys ? <>The program needs an access key with the permission Record Usage: <a href={to('keys')}>make one</a>.</> : 'The program needs an access key with the permission Record Usage: ask an administrator of the company for one.'} It is exchanged for a token of an hour.</p>
        <Copy label="A token, by the key" text={`KEY=… SECRET=…\n${tokenCommand(address.base)}`} />
      </Panel>
      <Panel id="records" title="2. Records">
        <label className="narrow">Name of the source<input maxLength={128} value={name} onChange={(event) => setName(event.target.value)} /></label>
        <Copy label="Records, one a line, in a stream of any length" text={recordCommand(address.base, record)} />
        <Copy label="The same by GraphQL, at most 1,000 at once" text={mutationCommand(address.base, record)} />
        <p className="hint">The same record again changes nothing. These commands book 49 kB for the subscriber that they name. <a href="/docs/clients">Clients</a> shows programs.</p>
      </Panel>
      <WatchFeed source={source}><p className="hint">Records of subscribers that the inventory does not have wait for them.</p></WatchFeed>
    </>
  );
}
