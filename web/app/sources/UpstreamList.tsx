import { count } from '../format/units';
import { operation } from '../graph/graphql';
import { to } from '../shell/route';
import { Ago } from '../ui/Ago';
import { type Connection, PagedPanel, pageArguments, pageFields, pageVariables } from './PagedPanel';
import { UpstreamState, type StateOfUpstream } from './words';

interface Upstream {
  id: string;
  upstreamId: number;
  name: string;
  baseUrl: string;
  state: StateOfUpstream;
  lastSyncedAt: string | null;
  lastSweptAt: string | null;
  counts: { subscribers: string; records: string; refused: string };
}

const query = operation(`query UpstreamTable(${pageVariables}) {
  upstreams(${pageArguments}) {
    nodes { id upstreamId name baseUrl state lastSyncedAt lastSweptAt counts { subscribers records refused } }
    ${pageFields}
  }
}`);

/** The accounts of other servers that are kept in step. */
export function UpstreamList() {
  return (
    <PagedPanel<{ upstreams: Connection<Upstream> | null }, Upstream>
      id="upstreams" title="Other accounts" query={query} refreshed={10} of={(data) => data.upstreams}
      empty={<>No account of another server is kept in step with here. <a href={to('connectBy', {}, 'account')}>Connect one.</a></>}
      columns={<><th scope="col">Account</th><th scope="col">State</th><th scope="col">Server</th><th scope="col">Last read</th><th scope="col">All of it read</th><th scope="col" className="number">Subscribers</th><th scope="col" className="number">Records</th><th scope="col" className="number">Refused</th></>}
      row={(of) => (
        <tr key={of.id}>
          <td><a href={to('upstream', {}, String(of.upstreamId))}><strong>{of.name}</strong></a></td>
          <td><UpstreamState of={of} /></td>
          <td>{of.baseUrl}</td>
          <td className="time"><Ago at={of.lastSyncedAt} none="not yet" /></td>
          <td className="time"><Ago at={of.lastSweptAt} none="not yet" /></td>
          <td className="number">{count(of.counts.subscribers)}</td>
          <td className="number">{count(of.counts.records)}</td>
          <td className="number">{count(of.counts.refused)}</td>
        </tr>
      )}
    />
  );
}
