import { Tabs as Links } from '../ui/Tabs';
import { AlertsFired } from './AlertsFired';
import { FirstSteps } from './FirstSteps';
import { FleetTiles } from './FleetTiles';
import { Heading } from './Heading';
import { NeedsAttention } from './NeedsAttention';
import { spanOf, spans, toSpan } from './spans';
import { SuppressedMail } from './SuppressedMail';
import { Tags } from './Tags';
import { TopChanges } from './TopChanges';
import { TopTalkers } from './TopTalkers';
import { UsageByDay } from './UsageByDay';

/** The first view: the fleet in numbers, for people who do not write queries. Its usage is that of the span in the address. */
export function Overview({ params }: { params: URLSearchParams }) {
  const span = spanOf(params);
  return (
    <div className="page">
      <Heading />
      <NeedsAttention />
      <FirstSteps />
      <SuppressedMail />
      <FleetTiles />
      <div className="row"><Links label="Span of the usage" tabs={spans.map(([key, name]) => ({ name, href: toSpan(key), current: key === span }))} /></div>
      <UsageByDay span={span} />
      <div className="columns">
        <TopTalkers span={span} />
        <TopChanges span={span} />
      </div>
      <div className="columns">
        <AlertsFired />
        <Tags />
      </div>
    </div>
  );
}
