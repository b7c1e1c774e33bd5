import { count } from '../format/units';
import { graphql } from '../graph/graphql';
import { to } from '../shell/route';
import { Ago } from '../ui/Ago';
import { useMayConnect } from './Frame';
import { PagedPanel } from './PagedPanel';
import { State } from './words';

const query = graphql(`query SourceTable($first: Int, $after: String, $last: Int, $before: String) {
  sources(first: $first, after: $after, last: $last, before: $before) {
    nodes { id name profileName pausedAt receivedAt counts { accepted duplicates waiting rejected skipped } }
    totalCount pageInfo { startCursor endCursor hasNextPage hasPreviousPage }
  }
}`);

/** Carriers and platforms that have an address of their own. */
export function SourceList() {
  const mayConnect = useMayConnect();
  return (
    <PagedPanel
      id="connected" title="Carriers and platforms" query={query} variables={{}} refreshed={10} of={(data) => data.sources}
      empty={<>No carrier or platform is connected. {mayConnect && <a href={to('connect')}>Connect the first.</a>}</>}
      columns={<><th scope="col">Source</th><th scope="col">State</th><th scope="col">Profile</th><th scope="col">Last received</th><th scope="col" className="number">Accepted</th><th scope="col" className="number">Duplicates</th><th scope="col" className="number">Waiting</th><th scope="col" className="number">Rejected</th><th scope="col" className="number">Left out</th></>}
      row={(of) => (
        <tr key={of.id}>
          <td><a href={to('source', {}, of.name)}><strong>{of.name}</strong></a></td>
          <td><State of={of} /></td>
          <td><a href={to('sourceProfile', {}, of.profileName)}>{of.profileName}</a></td>
          <td className="time"><Ago at={of.receivedAt} none="nothing yet" /></td>
          <td className="number">{count(of.counts.accepted)}</td>
          <td className="number">{count(of.counts.duplicates)}</td>
          <td className="number">{count(of.counts.waiting)}</td>
          <td className="number">{of.counts.rejected === '0' ? '0' : <a href={to('source', {}, of.name)}>{count(of.counts.rejected)}</a>}</td>
          <td className="number">{count(of.counts.skipped)}</td>
        </tr>
      )}
    />
  );
}
