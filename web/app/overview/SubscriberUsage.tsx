import { useMemo } from 'react';
import { Bars } from '../chart/Bars';
import { lastDays, lastHours, lastMonths, periodSpan, type Span } from '../format/span';
import { dateOf, day, moment, startOfDay } from '../format/time';
import { bytes, count, useSystem } from '../format/units';
import { graphql } from '../graph/graphql';
import { useAsk } from '../graph/use';
import { Annotated } from '../notes/Annotated';
import { Answered, Empty, Panel } from '../shell/parts';
import { go, to } from '../shell/route';
import { useMay, useViewer, useZone } from '../shell/viewer';
import { BySource, soFar } from '../sources/UsageBySource';
import { changedTo, definitionOf, paramsOf } from '../usage/question';
import '../styles/usage.css';
import { CSVButton } from './CSVButton';
import { Compared } from './Compared';
import type { Subscriber } from './subscriber';
import { toTab } from './tabs';
import { type Point, past, rowsOf, stacked, timesOf, type Totals } from './usage';

interface Usage {
  totals: Totals | null;
  series: Point[] | null;
  breakdown: Share[] | null;
  comparison: { totals: { total: string } | null; series: { total: string }[] | null } | null;
}

interface Share {
  value: string | null;
  mobileOriginated: string;
  mobileTerminated: string;
  total: string;
}

const query = graphql(`query UsageOfSubscriber($physicalId: String!, $start: DateTime!, $end: DateTime!, $interval: UsageInterval!, $before: DateTime!, $align: UsageAlignment!) {
  subscriber(by: {physicalId: $physicalId}) {
    usage(start: $start, end: $end) {
      totals { mobileOriginated mobileTerminated total sessions } series(interval: $interval) { start mobileOriginated mobileTerminated total } breakdown(by: PROTOCOL) { value mobileOriginated mobileTerminated total }
      comparison(start: $before, align: $align) { totals { total } series(interval: $interval) { total } }
    }
  }
}`);

interface Answer {
  subscriber: { usage: Usage | null } | null;
}

/** A span, and an instant of the first day of the one before it. */
interface Variables {
  start: string;
  end: string;
  interval: 'HOUR' | 'DAY' | 'MONTH';
  before: string;
  align: 'DATE' | 'BILLING_PERIOD';
}

const spanned = ({ from, to }: Span, interval: Variables['interval'], before: number, align: Variables['align'] = 'DATE'): Variables =>
  ({ start: from, end: to, interval, before: new Date(before).toISOString(), align });

/** Days or months of the zone before the start of a span. */
const earlier = ({ from }: Span, timeZone: string, by: { months?: number; days?: number }): number => startOfDay(Date.parse(from), timeZone, by);

const dayLength = 86_400_000;
const days = (n: number, interval: Variables['interval']) => (timeZone: string) => spanned(lastDays(n, timeZone), interval, earlier(lastDays(n, timeZone), timeZone, { days: -n }));

const spans: { key: string; name: string; variables: (timeZone: string, period: Span) => Variables }[] = [
  { key: '24h', name: '24 hours', variables: () => spanned(lastHours(24), 'HOUR', Date.parse(lastHours(24).from) - dayLength) },
  { key: '7d', name: '7 days', variables: days(7, 'HOUR') },
  { key: '30d', name: '30 days', variables: days(30, 'DAY') },
  { key: 'period', name: 'This period', variables: (timeZone, period) => spanned(soFar(period), 'DAY', earlier(period, timeZone, { days: -1 }), 'BILLING_PERIOD') },
  { key: 'year', name: 'A year', variables: (timeZone) => spanned(lastMonths(12, timeZone), 'MONTH', earlier(lastMonths(12, timeZone), timeZone, { months: -12 })) },
];

/** 30 days, where the address names no span. */
const usual = 2;

const usageOf = ({ subscriber }: Answer) => subscriber?.usage;

/** The usage of one subscriber over a span of one's choice, which stands in the address. */
export function SubscriberUsage({ subscriber, params }: { subscriber: Subscriber; params: URLSearchParams }) {
  const may = useMay('VIEW_STATISTICS_OVERVIEW', 'VIEW_SUBSCRIBER');
  const wanted = spans.findIndex(({ key }) => key === params.get('span'));
  const at = wanted < 0 ? usual : wanted;
  const timeZone = useZone();
  const { company: { currentPeriod } } = useViewer();
  const { name, variables } = useMemo(() => ({ name: spans[at]!.name, variables: spans[at]!.variables(timeZone, periodSpan(currentPeriod)) }), [at, timeZone, currentPeriod]);
  const asked = useAsk(may ? query : null, { physicalId: subscriber.physicalId, ...variables });
  const usage = asked.data && usageOf(asked.data);
  const tools = (
    <div className="row">
      <div className="switch" role="group" aria-label="Span">
        {spans.map(({ key, name }, i) => (
          <button key={key} type="button" aria-pressed={i === at} onClick={() => go(toTab(subscriber.physicalId, 'usage', new URLSearchParams(i === usual ? {} : { span: key })))}>{name}</button>
        ))}
      </div>
      <CSVButton name={`Usage of ${subscriber.physicalId}, ${name}`} rows={usage ? rowsOf(past(usage.series)) : []} />
    </div>
  );
  return (
    <Panel id="usage" title="Usage" aside={may && tools}>
      {may ? (
        <Answered asked={asked} of={usageOf} label="Adding up usage" rows={6}>
          {(usage) => (
            <div className="usage answered">
              <Chart usage={usage} span={name} subscriber={subscriber} asked={variables} params={params} />
              {usage.totals?.total !== '0' && <BySource of={{ physicalId: subscriber.physicalId }} span={{ from: variables.start, to: variables.end }} />}
            </div>
          )}
        </Answered>
      ) : (
        <Empty>{subscriber.dataUsage !== null && `${bytes(subscriber.dataUsage)} in this billing period. `}You need the permission View Statistics Overview to see its course.</Empty>
      )}
    </Panel>
  );
}

interface ChartProps {
  usage: Usage;
  span: string;
  subscriber: Subscriber;
  asked: Variables;
  params: URLSearchParams;
}

function Chart({ usage, span, subscriber, asked, params }: ChartProps) {
  useSystem();
  const timeZone = useZone();
  const points = useMemo(() => past(usage.series), [usage]);
  const { times, series } = useMemo(() => {
    const before = (usage.comparison?.series ?? []).map(({ total }) => Number(total));
    const dashed = { label: 'The span before', values: points.map((_, i) => before[i] ?? null), kind: 'dashed' as const, color: '--series-past' };
    return { times: timesOf(points), series: [...stacked(points), ...(usage.comparison?.series ? [dashed] : [])] };
  }, [usage, points]);
  const { totals } = usage;
  const before = usage.comparison?.totals?.total;
  if (totals?.total === '0') return <Empty>It used no data in this span{before && before !== '0' && `, and ${bytes(before)} in that before`}.</Empty>;
  const sum = totals ? bytes(totals.total) : 'unknown';
  const sessionsOf = (i: number) => toTab(subscriber.physicalId, 'sessions', params, { from: points[i]!.start, to: points[i + 1]?.start ?? asked.end });
  return (
    <>
      {totals && (
        <p>
          <strong>{sum}</strong> <span className="hint">· {bytes(totals.mobileTerminated)} received, {bytes(totals.mobileOriginated)} sent, {count(totals.sessions)} sessions</span>
        </p>
      )}
      {usage.series && <Annotated about={{ physicalId: subscriber.physicalId, groupId: subscriber.group?.groupId }} from={Date.parse(asked.start)} to={Date.parse(asked.end)} label={`Usage over ${span}: ${sum}. The numbers are in the table below.`} times={times} series={series} bytes timeZone={timeZone} height={220} onPick={(i) => points[i] && go(sessionsOf(i))} />}
      {usage.series && (
        <details className="numbers">
          <summary>The numbers as a table</summary>
          <div className="table-scroll tall" role="region" aria-label={`Usage over ${span}`} tabIndex={0}>
            <table>
              <thead><tr><th scope="col">Begins ({timeZone})</th><th scope="col" className="number">Received</th><th scope="col" className="number">Sent</th><th scope="col" className="number">The span before</th></tr></thead>
              <tbody>
                {points.map(({ start, mobileTerminated, mobileOriginated }, i) => (
                  <tr key={start}>
                    <th scope="row"><a href={sessionsOf(i)}>{asked.interval === 'HOUR' ? moment(start, timeZone) : day(start, timeZone)}</a></th>
                    <td className="number">{bytes(mobileTerminated)}</td>
                    <td className="number">{bytes(mobileOriginated)}</td>
                    <td className="number">{usage.comparison?.series?.[i] ? bytes(usage.comparison.series[i].total) : '–'}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </details>
      )}
      {totals && <Compared total={totals.total} before={before} span={{ from: asked.start, to: asked.end }} group={subscriber.group} />}
      {usage.breakdown && usage.breakdown.length > 0 && (
        <>
          <p className="hint">By protocol</p>
          <Bars
            label={`Usage by protocol over ${span}`}
            bars={usage.breakdown.map(({ value, mobileOriginated, mobileTerminated, total }) => ({ label: value, values: [Number(mobileTerminated), Number(mobileOriginated)], text: bytes(total) }))}
          />
          <p className="hint"><a href={toProtocols(subscriber, asked, timeZone)}>{subscriber.group ? `How ${subscriber.group.name} uses the protocols` : 'How the company uses the protocols'}</a></p>
        </>
      )}
    </>
  );
}

/** The address of the question how the group, or else the company, uses the protocols in a span. */
function toProtocols({ group }: Subscriber, { start, end }: Variables, timeZone: string): string {
  const question = changedTo(definitionOf(new URLSearchParams()), {
    span: 'DAYS', firstDay: dateOf(start, timeZone), lastDay: dateOf(Date.parse(end) - 1, timeZone), groupId: group?.groupId ?? null,
  });
  return to('usage', paramsOf({ ...question, split: 'PROTOCOL', chart: 'STACKED' }));
}
