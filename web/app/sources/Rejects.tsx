import { count } from '../format/units';
import { operation } from '../graph/graphql';
import { useZone } from '../shell/viewer';
import { Time } from './Elements';
import { type Connection, PagedPanel, pageArguments, pageFields, pageVariables } from './PagedPanel';

interface Reject {
  id: string;
  source: string;
  nas: string | null;
  reason: string;
  requests: string;
  lastAt: string;
  example: string;
}

const query = operation(`query FeedRejects(${pageVariables}) {
  company { feedRejects(${pageArguments}) {
    nodes { id source nas reason requests lastAt example }
    ${pageFields}
  } }
}`);

/** Why requests of network elements could not be used. */
export function Rejects() {
  const timeZone = useZone();
  return (
    <PagedPanel<{ company: { feedRejects: Connection<Reject> | null } | null }, Reject>
      id="rejects" title="Rejected requests" query={query} refreshed={60} of={(data) => data.company?.feedRejects}
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
