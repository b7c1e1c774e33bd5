import { useMemo } from 'react';
import type { Series } from '../chart/Plot';
import { daysBetween, moment, startOfDay } from '../format/time';
import { bytes, change, count, useSystem } from '../format/units';
import { graphql } from '../graph/graphql';
import { type Asked, useAsk } from '../graph/use';
import { Annotated } from '../notes/Annotated';
import { Answered, Empty, Panel } from '../shell/parts';
import { type Period, useMay, useZone } from '../shell/viewer';
import { CSVButton } from './CSVButton';
import { daysOf, type Key, nameOf } from './spans';
import { type Point, past, rowsOf, stacked, type Totals } from './usage';

interface Usage {
  period: Period;
  totals: Totals | null;
  series: Point[] | null;
  dataCompleteUntil: string | null;
  previous: { totals: Totals | null; series: Point[] | null } | null;
}

interface Answer {
  company: { usage: Usage | Last | Days | null } | null;
}

type Last = { previous: Usage | null };
type Days = Omit<Usage, 'previous'> & { comparison: Usage['previous'] };

const sums = graphql('fragment Sums on Usage { totals { mobileOriginated mobileTerminated total sessions } series(interval: DAY) { start mobileOriginated mobileTerminated total } }');
const now = graphql('query UsageByDay { company { usage { period { startsAt endsAt } dataCompleteUntil ...Sums previous { ...Sums } } } }', [sums]);
const last = graphql('query UsageByDayBefore { company { usage { previous { period { startsAt endsAt } dataCompleteUntil ...Sums previous { ...Sums } } } } }', [sums]);
const ofDays = graphql(`query UsageOfDays($start: DateTime!, $end: DateTime!, $before: DateTime!) {
  company { usage(start: $start, end: $end) { period { startsAt endsAt } dataCompleteUntil ...Sums comparison(start: $before) { ...Sums } } }
}`, [sums]);

/** What the chart is about: the company. */
const whole = {};

function usageOf({ company }: Answer): Usage | null | undefined {
  const usage = company?.usage;
  if (!usage) return usage;
  if ('comparison' in usage) return { ...usage, previous: usage.comparison };
  return 'period' in usage ? usage : usage.previous;
}

const titles: Record<Key, string> = { '': 'Usage this billing period', last: 'Usage in the last billing period', '7d': 'Usage in 7 days', '30d': 'Usage in 30 days' };

/** The usage of the span: of days, or of a billing period. */
function useUsage(may: boolean, span: Key, days: ReturnType<typeof daysOf>): Asked<Answer> {
  const read = days ?? { start: '', end: '', before: '' };
  const [ofPeriod, ofLast, ofSpan] = [useAsk(may && span === '' ? now : null), useAsk(may && span === 'last' ? last : null), useAsk(may && days ? ofDays : null, read)];
  return days ? ofSpan : span === 'last' ? ofLast : ofPeriod;
}

/** Usage of a span by day, against the same days of the one before. */
export function UsageByDay({ span }: { span: Key }) {
  const may = useMay('VIEW_STATISTICS_OVERVIEW');
  const timeZone = useZone();
  const days = useMemo(() => daysOf(span, timeZone), [span, timeZone]);
  const asked = useUsage(may, span, days);
  const usage = asked.data && usageOf(asked.data);
  const rows = usage ? rowsOf(past(usage.series)) : [];
  return (
    <Panel id="usage" title={titles[span]} aside={may && <CSVButton name={`Usage by day${span && `, ${nameOf(span)}`}`} rows={rows} />}>
      {may ? (
        <Answered asked={asked} of={usageOf} label="Adding up usage" rows={6}>
          {(usage) => <Chart usage={usage} span={span} />}
        </Answered>
      ) : (
        <Empty>You need the permission View Statistics Overview to see usage.</Empty>
      )}
    </Panel>
  );
}

function Chart({ usage, span }: { usage: Usage; span: Key }) {
  useSystem();
  const timeZone = useZone();
  const { times, series, before } = useMemo(() => draw(usage, span, timeZone), [usage, span, timeZone]);
  const total = Number(usage.totals?.total ?? 0);
  if (usage.totals && usage.series && total === 0 && before === 0) return <Empty>No usage has been recorded in this {words[span]} or the one before.</Empty>;
  const sum = bytes(total);
  return (
    <>
      {usage.totals && (
        <div className="figures">
          <Figure name="Total" text={sum} note={usage.series && usage.previous?.series ? comparison(total, before, span) : undefined} />
          <Figure name="Received (MT)" text={bytes(usage.totals.mobileTerminated)} />
          <Figure name="Sent (MO)" text={bytes(usage.totals.mobileOriginated)} />
          <Figure name="Sessions" text={count(usage.totals.sessions)} />
        </div>
      )}
      {usage.series && <Annotated about={whole} from={Date.parse(usage.period.startsAt)} to={Date.parse(usage.period.endsAt)} label={`Usage by day: ${sum} in this ${words[span]}${span !== 'last' ? ' so far' : ''}, ${bytes(before)} ${span !== 'last' ? 'by the same time of' : 'in'} the one before.`} times={times} series={series} bytes timeZone={timeZone} height={260} />}
      {usage.dataCompleteUntil && <p className="hint">Complete until {moment(usage.dataCompleteUntil, timeZone)}.</p>}
    </>
  );
}

const Figure = ({ name, text, note }: { name: string; text: string; note?: string }) => (
  <div>
    <span className="hint">{name}</span>
    <strong>{text}</strong>
    {note && <span className="hint">{note}</span>}
  </div>
);

/** What a span is called in sentences. */
const words: Record<Key, string> = { '': 'billing period', last: 'billing period', '7d': 'span', '30d': 'span' };

function comparison(total: number, before: number, span: Key): string {
  const by = change(total, before);
  return by === null ? 'nothing to compare with' : `${by} on the ${span === '' || span === 'last' ? 'period' : 'span'} before${span === 'last' ? '' : ', to the same time'}`;
}

/** The days of the span on the axis; the one before lies over them day by day. A series ends with what is known. */
function draw({ period: { startsAt: start, endsAt: end }, series, previous, dataCompleteUntil }: Usage, span: Key, timeZone: string): { times: number[]; series: Series[]; before: number } {
  const known = past(series);
  const former = previous?.series ?? [];
  const days = Array.from({ length: daysBetween(start, Date.parse(end) - 1, timeZone) + 2 }, (_, i) => startOfDay(Date.parse(start), timeZone, { days: i }));
  const shown = days.slice(0, -1);
  const over = shown.map((_, i) => (former[i] ? Number(former[i].total) : null));
  return {
    times: shown.map((at) => at / 1000),
    series: [...stacked(shown.map((_, i) => known[i])), { label: span === '' || span === 'last' ? 'Period before' : 'Days before', values: over, kind: 'dashed', color: '--series-past' }],
    // Days are compared with as many up to the same time, and a period that is over with one that is.
    before: span === '' ? sumTo(days, known.length, former, Date.parse(dataCompleteUntil ?? new Date().toISOString())) : Number(previous?.totals?.total ?? 0),
  };
}

/** What the period before had used by the same time: of the day that runs, the share that is known. */
function sumTo(days: number[], known: number, before: Point[], until: number): number {
  return before.slice(0, known).reduce((all, { total }, i) => {
    const [start, end] = [days[i], days[i + 1]];
    const share = start === undefined || end === undefined ? 1 : (until - start) / (end - start);
    return all + Number(total) * Math.min(1, Math.max(0, share));
  }, 0);
}
