import { useMemo } from 'react';
import { Plot, type Series } from '../chart/Plot';
import { dateOf, day, startOfDay } from '../format/time';
import { bytes, count, useSystem } from '../format/units';
import { graphql, type ResultOf } from '../graph/graphql';
import { useAsk, useSettled } from '../graph/use';
import { Failure, Waiting } from '../shell/parts';
import { useMay, useZone } from '../shell/viewer';
import type { Input } from './AlertForm';
import { Subject } from './Subject';

const query = graphql(`
  query BackTest($input: CreateAlertInput!, $startDate: String!, $endDate: String!, $names: Boolean!) {
    previewAlert(input: $input, startDate: $startDate, endDate: $endDate) {
      total subjects isSample
      firings { boundary at usage subscriber @include(if: $names) { physicalId nickname } group @include(if: $names) { groupId name } }
    }
  }
`);

type Preview = NonNullable<ResultOf<typeof query>['previewAlert']>;
const monthsBack = 3;
const listed = 8;
const instant = (at: number) => new Date(at).toISOString();

/** When the alert would have fired in the last months, by the day, and for whom. */
export function BackTest({ input }: { input: Input }) {
  const timeZone = useZone();
  const names = useMay('VIEW_SUBSCRIBER');
  const wanted = useSettled(JSON.stringify(input), 400);
  const span = useMemo(() => ({ startDate: instant(startOfDay(Date.now(), timeZone, { months: -monthsBack })), endDate: instant(startOfDay(Date.now(), timeZone, { days: 1 })) }), [timeZone]);
  const { data, former, problem, reload } = useAsk(query, { input: JSON.parse(wanted) as Input, ...span, names });
  const preview = (data ?? former)?.previewAlert;
  if (problem) return <Failure problem={problem} retry={reload} />;
  if (!preview) return <Waiting label="Looking at the last three months" rows={4} />;
  return <div className="answered" aria-busy={data === undefined}><Shown of={preview} input={input} span={span} timeZone={timeZone} /></div>;
}

function Shown({ of: { total, subjects, firings, isSample }, input, span, timeZone }: { of: Preview; input: Input; span: { startDate: string; endDate: string }; timeZone: string }) {
  useSystem();
  // Of many firings the answer holds the first: the days after them are not drawn as if nothing fired.
  const partial = isSample || total > firings.length;
  const { times, series } = useMemo(() => draw(firings, { ...span, endDate: partial ? (firings.at(-1)?.at ?? span.endDate) : span.endDate }, timeZone), [firings, partial, span, timeZone]);
  if (total === 0) return <p className="foresight" role="status">It would not have fired in the last three months.</p>;
  const text = `It would have fired ${total === 1 ? 'once' : `${count(total)} times`} in the last three months${subjects > 1 ? `, for ${count(subjects)} ${input.ruleType === 'GROUPPR' ? 'groups' : 'subscribers'}` : ''}.`;
  return (
    <div className="back-test">
      <p className="foresight" role="status">{text} {partial && `The chart has ${isSample ? 'a sample of' : 'the first'} ${count(firings.length)}.`}</p>
      <Plot label={`${text} The list below has the last of those drawn.`} times={times} series={series} bytes={false} timeZone={timeZone} height={170} />
      <ul className="entries">
        {firings.slice(-listed).reverse().map((one, i) => (
          <li key={i}>
            <span className={`badge ${one.boundary.toLowerCase()}`}>{one.boundary.toLowerCase()}</span>
            <span className="entry-text"><Subject ruleType={input.ruleType} target={input.target} subscriber={one.subscriber} group={one.group} /><span className="hint">at {bytes(one.usage)}</span></span>
            <time className="hint" dateTime={one.at}>{day(one.at, timeZone)}</time>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** How often each threshold fires on each day; the bar of both stands behind that of the upper. */
function draw(firings: Preview['firings'], { startDate, endDate }: { startDate: string; endDate: string }, timeZone: string): { times: number[]; series: Series[] } {
  const days: number[] = [];
  for (let at = Date.parse(startDate); at <= Date.parse(endDate); at = startOfDay(at, timeZone, { days: 1 })) days.push(at);
  const place = new Map(days.map((at, i) => [dateOf(at, timeZone), i]));
  const counts = { LOWER: days.map(() => 0), UPPER: days.map(() => 0) };
  for (const { boundary, at } of firings) {
    const i = place.get(dateOf(at, timeZone));
    if (i !== undefined) counts[boundary][i]!++;
  }
  return {
    times: days.map((at) => at / 1000),
    series: [
      { label: 'Lower', values: counts.LOWER.map((n, i) => n + counts.UPPER[i]!), shown: counts.LOWER, kind: 'bars', color: '--series-3' },
      { label: 'Upper', values: counts.UPPER, kind: 'bars', color: '--series-7' },
    ],
  };
}
