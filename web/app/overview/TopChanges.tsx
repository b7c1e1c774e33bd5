import { useMemo, useState } from 'react';
import { Bars } from '../chart/Bars';
import { day } from '../format/time';
import { bytes, count, useSystem } from '../format/units';
import { graphql, type ResultOf } from '../graph/graphql';
import { useAsk } from '../graph/use';
import { Answered, Empty, Panel } from '../shell/parts';
import { toSubscriber } from '../shell/route';
import { useMay, useViewer, useZone } from '../shell/viewer';
import { CSVButton } from './CSVButton';
import { fleetCounts } from './FleetTiles';
import { comparedOf, type Key, nameOf, toRisers, toUsageOf } from './spans';

const changed = graphql(`
  fragment Changed on Usage {
    period { startsAt endsAt }
    risen: topChanges(first: 5, start: $before, align: $align) { subscriber { physicalId subscriberId nickname } total before change }
    fallen: topChanges(first: 5, order: MOST_FALLEN, start: $before, align: $align) { subscriber { physicalId subscriberId nickname } total before change }
  }
`);
export const changes = graphql(`
  query TopChanges($start: DateTime, $end: DateTime, $before: DateTime, $align: UsageAlignment!, $isLast: Boolean!) {
    company {
      usage(start: $start, end: $end) @skip(if: $isLast) { ...Changed }
      period: usage @include(if: $isLast) { previous { ...Changed } }
    }
  }
`, [changed]);

type Usage = ResultOf<typeof changed>;
type Known = { [K in keyof Usage]: NonNullable<Usage[K]> };
type Change = Known['risen'][number];

/** The changes, where they could be read. */
function changesOf({ company }: ResultOf<typeof changes>): Known | null {
  const usage = company?.period?.previous ?? company?.usage;
  return usage?.risen && usage.fallen ? { period: usage.period, risen: usage.risen, fallen: usage.fallen } : null;
}

/** Up to how many subscribers are compared unasked: a row is read for each of them and each day of both spans. */
const comparedAtOnce = 10_000;

/** The subscribers whose usage rose and fell most from the span before. Those of a large fleet are compared when that is asked for. */
export function TopChanges({ span }: { span: Key }) {
  const may = useMay('VIEW_STATISTICS_OVERVIEW', 'VIEW_SUBSCRIBER');
  const timeZone = useZone();
  const { currentPeriod } = useViewer().company;
  const variables = useMemo(() => comparedOf(span, currentPeriod, timeZone), [span, currentPeriod, timeZone]);
  const [isWanted, want] = useState(false);
  const fleet = useAsk(may ? fleetCounts : null);
  const total = fleet.data?.company?.fleet?.total;
  const isCompared = isWanted || (total !== undefined && total <= comparedAtOnce);
  const mayOffer = !isCompared && (total !== undefined || fleet.problem !== undefined);
  const asked = useAsk(may && isCompared ? changes : null, variables);
  const known = asked.data && changesOf(asked.data);
  return (
    <Panel id="changes" title="Top changes" aside={known && <Tools span={span} changes={known} />}>
      {!may && <Empty>You need the permissions View Statistics Overview and View Subscriber to see these.</Empty>}
      {may && mayOffer && <Offer total={total} accept={() => want(true)} />}
      {may && !mayOffer && (
        <Answered asked={asked} of={changesOf} label="Comparing subscribers" rows={8}>
          {(known) => <Lists changes={known} span={span} />}
        </Answered>
      )}
    </Panel>
  );
}

/** Compares the subscribers of a large fleet, or of one that could not be counted, by a button. */
function Offer({ total, accept }: { total: number | undefined; accept: () => void }) {
  const whose = total === undefined ? 'all subscribers' : `${count(total)} subscribers`;
  return (
    <>
      <Empty>Each day of {whose} is read for this, which takes a moment.</Empty>
      <p className="actions"><button type="button" onClick={accept}>Compare subscribers</button></p>
    </>
  );
}

function Tools({ span, changes: { period, risen, fallen } }: { span: Key; changes: Known }) {
  const timeZone = useZone();
  const rows = [...risen, ...fallen].map(({ subscriber, ...bytes }) => ({ ...subscriber, ...bytes }));
  return (
    <div className="row">
      <a href={toRisers(span, { from: period.startsAt, to: period.endsAt }, timeZone)}>Top risers</a>
      <CSVButton name={`Top changes${span && `, ${nameOf(span)}`}`} rows={rows} />
    </div>
  );
}

function Lists({ changes: { period, risen, fallen }, span }: { changes: Known; span: Key }) {
  useSystem();
  const timeZone = useZone();
  const days = `${day(period.startsAt, timeZone)} – ${day(Date.parse(period.endsAt) - 1, timeZone)}`;
  if (risen.length + fallen.length === 0) return <Empty>No subscriber used more or less than in the span before, {days}.</Empty>;
  const bars = (list: Change[], isFall: boolean) => list.map(({ subscriber, total, before, change }) => {
    const by = `${isFall ? '−' : '+'}${bytes(Math.abs(Number(change)))}`;
    return {
      label: subscriber ? <a href={toSubscriber(subscriber.physicalId)}>{subscriber.nickname || subscriber.physicalId}</a> : 'unknown',
      values: isFall ? [0, -Number(change)] : [Number(change)],
      text: subscriber ? <a href={toUsageOf(subscriber.physicalId, span, { from: period.startsAt, to: period.endsAt }, timeZone)} title={`From ${bytes(before)} to ${bytes(total)}`}>{by}</a> : by,
    };
  });
  return (
    <>
      <p className="hint">Rose most</p>
      {risen.length === 0 ? <Empty>None used more.</Empty> : <Bars label={`Subscribers that rose most, ${days}`} bars={bars(risen, false)} />}
      <p className="hint">Fell most</p>
      {fallen.length === 0 ? <Empty>None used less.</Empty> : <Bars label={`Subscribers that fell most, ${days}`} bars={bars(fallen, true)} />}
      <p className="hint">{days}, against {span === '' ? 'the same days of the period before' : span === 'last' ? 'the period before' : 'as many days before'}</p>
    </>
  );
}
