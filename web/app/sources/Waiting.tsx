import { bytes, count, useSystem } from '../format/units';
import { operation } from '../graph/graphql';
import { useZone } from '../shell/viewer';
import { Time } from './Elements';
import { type Connection, PagedPanel, pageArguments, pageFields, pageVariables } from './PagedPanel';

interface WaitingUsage {
  id: string;
  source: string;
  physicalId: string | null;
  imsi: string | null;
  msisdn: string | null;
  records: string;
  bytes: string;
  firstAt: string;
  lastAt: string;
}

const query = operation(`query WaitingUsage(${pageVariables}) {
  company { waitingUsage(${pageArguments}) {
    nodes { id source physicalId imsi msisdn records bytes firstAt lastAt }
    ${pageFields}
  } }
}`);

/** Usage of subscribers that are not known, and what would make them known. */
export function Waiting() {
  const timeZone = useZone();
  useSystem();
  return (
    <PagedPanel<{ company: { waitingUsage: Connection<WaitingUsage> | null } | null }, WaitingUsage>
      id="waiting" title="Usage that waits for a subscriber" query={query} refreshed={60} of={(data) => data.company?.waitingUsage}
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

const missing = ({ physicalId, imsi, msisdn }: WaitingUsage): string =>
  [physicalId !== null && `physicalId ${physicalId}`, imsi !== null && `IMSI ${imsi}`, msisdn !== null && `MSISDN ${msisdn}`].filter(Boolean).join(' or ');
