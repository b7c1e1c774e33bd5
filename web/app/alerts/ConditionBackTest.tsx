import { useMemo } from 'react';
import { Plot } from '../chart/Plot';
import { moment } from '../format/time';
import { count, useSystem } from '../format/units';
import { graphql, type ResultOf } from '../graph/graphql';
import { useAsk, useSettled } from '../graph/use';
import { Failure, Waiting } from '../shell/parts';
import { useMay, useZone } from '../shell/viewer';
import type { Input } from './ConditionForm';
import { Subject } from './Subject';

const query = graphql(`
  query ConditionBackTest($input: CreateConditionAlertInput!, $names: Boolean!) {
    previewConditionAlert(input: $input, days: 28) {
      total subjects subscribers isSample
      days { start firings }
      firings { at text subscriber @include(if: $names) { physicalId nickname } group @include(if: $names) { groupId name } }
    }
  }
`);

type Preview = NonNullable<ResultOf<typeof query>['previewConditionAlert']>;
const listed = 5;

/** When the alert would have fired in the last four weeks, by the day, and for whom. */
export function ConditionBackTest({ input }: { input: Input }) {
  const names = useMay('VIEW_SUBSCRIBER');
  const wanted = useSettled(JSON.stringify(input), 400);
  const { data, former, problem, reload } = useAsk(query, { input: JSON.parse(wanted) as Input, names });
  const preview = (data ?? former)?.previewConditionAlert;
  if (problem) return <Failure problem={problem} retry={reload} />;
  if (!preview) return <Waiting label="Looking at the last four weeks" rows={3} />;
  return <div className="answered" aria-busy={data === undefined}><Shown of={preview} input={input} /></div>;
}

function Shown({ of: { total, subjects, subscribers, isSample, days, firings }, input }: { of: Preview; input: Input }) {
  const timeZone = useZone();
  useSystem();
  const { times, series } = useMemo(() => ({
    times: days.map(({ start }) => Date.parse(start) / 1000),
    series: [{ label: 'Fired', values: days.map(({ firings }) => firings), kind: 'bars' as const, color: '--series-7' }],
  }), [days]);
  const among = isSample ? ` Of what it watches, ${count(subscribers)} subscribers were looked at.` : '';
  if (total === 0) return <p className="foresight" role="status">It would not have fired in the last four weeks.{among}</p>;
  const text = `It would have fired ${total === 1 ? 'once' : `${count(total)} times`} in the last four weeks${subjects > 1 ? `, for ${count(subjects)} subscribers` : ''}.`;
  return (
    <div className="back-test">
      <p className="foresight" role="status">{text}{among}</p>
      <Plot label={`${text} The list below has the last of the first hundred.`} times={times} series={series} bytes={false} timeZone={timeZone} height={150} />
      <ul className="entries two">
        {firings.slice(-listed).reverse().map((one, i) => (
          <li key={i}>
            <span className="entry-text"><Subject ruleType={input.ruleType} target={input.target ?? ''} subscriber={one.subscriber} group={one.group} /><span className="hint">{one.text}</span></span>
            <time className="hint" dateTime={one.at}>{moment(one.at, timeZone)}</time>
          </li>
        ))}
      </ul>
    </div>
  );
}
