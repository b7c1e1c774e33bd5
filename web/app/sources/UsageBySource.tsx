import { useMemo, useState } from 'react';
import { Bars } from '../chart/Bars';
import { lastDays, lastHours, periodSpan, type Span } from '../format/span';
import { bytes, percent, useSystem } from '../format/units';
import { type Document, graphql, type ResultOf } from '../graph/graphql';
import { useAsk } from '../graph/use';
import { CSVButton } from '../overview/CSVButton';
import { Answered, Empty, Panel } from '../shell/parts';
import { useViewer, useZone } from '../shell/viewer';
import { bounded, mostDays } from './bounded';
import '../styles/sources.css';

const ofCompany = graphql('query CompanyUsageBySource($start: DateTime!, $end: DateTime!) { company { usage(start: $start, end: $end) { breakdown(by: SOURCE, first: 20) { value mobileOriginated mobileTerminated total } } } }');
const ofGroup = graphql('query GroupUsageBySource($groupId: Int!, $start: DateTime!, $end: DateTime!) { group(by: {groupId: $groupId}) { usage(start: $start, end: $end) { breakdown(by: SOURCE, first: 20) { value mobileOriginated mobileTerminated total } } } }');
const ofTag = graphql('query TagUsageBySource($name: String!, $start: DateTime!, $end: DateTime!) { tag(by: {name: $name}) { usage(start: $start, end: $end) { breakdown(by: SOURCE, first: 20) { value mobileOriginated mobileTerminated total } } } }');
const ofSubscriber = graphql('query SubscriberUsageBySource($physicalId: String!, $start: DateTime!, $end: DateTime!) { subscriber(by: {physicalId: $physicalId}) { usage(start: $start, end: $end) { breakdown(by: SOURCE, first: 20) { value mobileOriginated mobileTerminated total } } } }');

type Share = NonNullable<NonNullable<NonNullable<ResultOf<typeof ofCompany>['company']>['usage']>['breakdown']>[number];
interface Answer {
  [subject: string]: { usage: { breakdown: Share[] | null } | null } | null;
}

/** Whose usage it is; null for the company. */
export type UsageSubject = { groupId: number } | { name: string } | { physicalId: string } | null;

const queryOf = (of: UsageSubject) => (of === null ? ofCompany : 'groupId' in of ? ofGroup : 'name' in of ? ofTag : ofSubscriber);
const sharesOf = (data: Answer) => Object.values(data)[0]?.usage?.breakdown;

function useShares(of: UsageSubject, { from, to }: Span) {
  return useAsk<Answer>(queryOf(of) as unknown as Document, { ...of, start: from, end: to });
}

/** The shares of sources in a span; of a longer one than can be read, in its end. */
function Shares({ of, span }: { of: UsageSubject; span: Span }) {
  const read = bounded(span);
  const asked = useShares(of, read);
  return <Drawn asked={asked} isCut={read.isCut} />;
}

function Drawn({ asked, isCut }: { asked: ReturnType<typeof useShares>; isCut: boolean }) {
  useSystem();
  return (
    <>
      {isCut && <p className="hint">Of the last {mostDays} days: usage by source can be read for no longer at once.</p>}
      <Answered asked={asked} of={sharesOf} label="Adding up usage by source">
        {(shares) => {
          const all = shares.reduce((sum, { total }) => sum + Number(total), 0);
          if (all === 0) return <Empty>No source reported usage in this span.</Empty>;
          return (
            <Bars label="Usage by source" legend={['Received (MT)', 'Sent (MO)']} bars={shares.map(({ value, mobileOriginated, mobileTerminated, total }) => ({
              label: <>{value} <span className="hint">{percent(Number(total) / all)}</span></>, values: [Number(mobileTerminated), Number(mobileOriginated)], text: bytes(total),
            }))} />
          );
        }}
      </Answered>
    </>
  );
}


/** A part of a panel that reads the shares of sources when it is opened: that takes long of large groups. */
export function BySource({ of, span }: { of: UsageSubject; span: Span }) {
  const [open, setOpen] = useState(false);
  return (
    <details className="by-source" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>By source</summary>
      {open && <Shares of={of} span={span} />}
    </details>
  );
}

/** The usage of the company by source, over a span of one's choice. */
export function UsageBySource() {
  const timeZone = useZone();
  const { company: { currentPeriod } } = useViewer();
  const [at, setAt] = useState(0);
  const spans = useMemo<[string, () => Span][]>(() => [
    ['24 hours', () => lastHours(24)], ['7 days', () => lastDays(7, timeZone)], ['31 days', () => lastDays(mostDays, timeZone)], ['This period', () => soFar(periodSpan(currentPeriod))],
  ], [timeZone, currentPeriod]);
  const read = useMemo(() => bounded(spans[at]![1]()), [spans, at]);
  const asked = useShares(null, read);
  return (
    <Panel id="by-source" title="Usage by source" aside={(
      <div className="row">
        <div className="switch" role="group" aria-label="Span">
          {spans.map(([name], i) => <button key={name} type="button" aria-pressed={i === at} onClick={() => setAt(i)}>{name}</button>)}
        </div>
        <CSVButton name={`Usage by source, ${spans[at]![0]}`} rows={(asked.data && sharesOf(asked.data)) ?? []} />
      </div>
    )}>
      <Drawn asked={asked} isCut={read.isCut} />
    </Panel>
  );
}

/** A span without what is yet to come. */
export const soFar = ({ from, to }: Span): Span => {
  const { to: now } = lastHours(1);
  return { from, to: Date.parse(to) < Date.parse(now) ? to : now };
};
