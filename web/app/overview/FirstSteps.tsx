import { Panel } from '../shell/parts';
import { to } from '../shell/route';
import { useMay, useViewer } from '../shell/viewer';

/** What to do next, for a company that has no subscribers yet. */
export function FirstSteps() {
  const { company } = useViewer();
  const mayKeys = useMay('MANAGE_ACCESS_KEYS');
  return (
    <Panel id="first-steps" title="First steps">
      <ol className="steps">
        <li><strong>Bring the fleet in.</strong> On the host: <code>simgraph import fleet.ndjson</code>, whose lines name the company <code>{company.externalId}</code>; or <a href={to('subscribers')}>add subscribers</a> one by one.</li>
        <li><strong>Make a key for programs.</strong> {mayKeys ? <><a href={to('keys')}>Access keys</a> are made here.</> : 'Ask an administrator of the company for one.'}</li>
        <li><strong>Feed usage.</strong> <code>POST /usage/records</code> takes it as a stream, <code>--radius-addr</code> from network elements; <a href="/docs/clients">Clients</a> shows programs. <a href={to('sources')}>Sources</a> shows what arrives.</li>
      </ol>
    </Panel>
  );
}
