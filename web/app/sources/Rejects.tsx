import { count } from '../format/units';
import { graphql } from '../graph/graphql';
import { useZone } from '../shell/viewer';
import { Time } from './Elements';
import { PagedPanel } from './PagedPanel';

const query = graphql(`query FeedRejects($first: Int, $after: String, $last: Int, $before: String) {
  company { feedRejects(first: $first, after: $after, last: $last, before: $before) {
    nodes { id source nas reason requests lastAt example }
    totalCount pageInfo { startCursor endCursor hasNextPage hasPreviousPage }
  } }
}`);

/** Why requests of network elements could not be used. */
export function Rejects() {
  const timeZone = useZone();
  return (
    <PagedPanel
      id="rejects" title="Rejected requests" query={query} variables={{}} refreshed={60} of={(data) => data.company?.feedRejects}
      empty="No request was rejected."
      columns={<><th scope="col">Reason</th><th scope="col">Source</th><th scope="col" className="number">Requests</th><th scope="col">Last</th><th scope="col">Such as</th></>}
      row={(of) => (
        <tr key={of.id}>
          <td>{of.reason}</td>
          <td>{of.nas === null ? of.source : `${of.nas} of ${of.source}`}</td>
          <td className="number">{count(of.requests)}</td>
          <td className="time"><Time at={of.lastAt} timeZone={timeZone} /></td>
          <td className="text">{of.example || '–'}</td>
        </tr>
      )}
    />
  );
}
