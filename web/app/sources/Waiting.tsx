import { bytes, count, useSystem } from '../format/units';
import { graphql } from '../graph/graphql';
import { useZone } from '../shell/viewer';
import { Time } from './Elements';
import { PagedPanel } from './PagedPanel';

const query = graphql(`query WaitingUsage($first: Int, $after: String, $last: Int, $before: String) {
  company { waitingUsage(first: $first, after: $after, last: $last, before: $before) {
    nodes { id source physicalId imsi msisdn records bytes firstAt lastAt }
    totalCount pageInfo { startCursor endCursor hasNextPage hasPreviousPage }
  } }
}`);

/** Usage of subscribers that are not known, and what would make them known. */
export function Waiting() {
  const timeZone = useZone();
  useSystem();
  return (
    <PagedPanel
      id="waiting" title="Usage that waits for a subscriber" query={query} variables={{}} refreshed={60} of={(data) => data.company?.waitingUsage}
      empty="Nothing waits: every record has its subscriber."
      columns={<><th scope="col">Missing subscriber</th><th scope="col">Source</th><th scope="col" className="number">Records</th><th scope="col" className="number">Volume</th><th scope="col">From</th><th scope="col">Until</th></>}
      row={(of) => (
        <tr key={of.id}>
          <td className="mono">{missing(of)}</td>
          <td>{of.source}</td>
          <td className="number">{count(of.records)}</td>
          <td className="number">{bytes(of.bytes)}</td>
          <td className="time"><Time at={of.firstAt} timeZone={timeZone} /></td>
          <td className="time"><Time at={of.lastAt} timeZone={timeZone} /></td>
        </tr>
      )}
    />
  );
}

const missing = ({ physicalId, imsi, msisdn }: Record<'physicalId' | 'imsi' | 'msisdn', string | null>): string =>
  [physicalId !== null && `physicalId ${physicalId}`, imsi !== null && `IMSI ${imsi}`, msisdn !== null && `MSISDN ${msisdn}`].filter(Boolean).join(' or ');
