import { count } from '../format/units';
import { graphql } from '../graph/graphql';
import { to } from '../shell/route';
import { Ago } from '../ui/Ago';
import { PagedPanel } from './PagedPanel';
import { UpstreamState } from './words';

const query = graphql(`query UpstreamTable($first: Int, $after: String, $last: Int, $before: String) {
  upstreams(first: $first, after: $after, last: $last, before: $before) {
    nodes { id upstreamId name baseUrl state lastSyncedAt lastSweptAt counts { subscribers records refused } }
    totalCount pageInfo { startCursor endCursor hasNextPage hasPreviousPage }
  }
}`);

/** The accounts of other servers that are kept in step. */
export function UpstreamList() {
  return (
    <PagedPanel
      id="upstreams" title="Other accounts" query={query} variables={{}} refreshed={10} of={(data) => data.upstreams}
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
