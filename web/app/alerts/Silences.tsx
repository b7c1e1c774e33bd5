import { useMemo, useState } from 'react';
import { moment, startOfDay } from '../format/time';
import { count } from '../format/units';
import { graphql, type ResultOf } from '../graph/graphql';
import { useAsk } from '../graph/use';
import { Answered, Empty, Panel } from '../shell/parts';
import { useMay, useViewer, useZone } from '../shell/viewer';
import { nouns, useGroupNames, useNames } from '../picker/choices';
import { Frame } from './Frame';
import SilenceForm from './SilenceForm';
import { EndSilence } from './SilenceHere';
import { Strip } from './SilenceStrip';
import { weekdays } from './words';

const query = graphql(`
  query Silences($from: DateTime!, $until: DateTime!) {
    silences(first: 100, filter: { isEnded: { eq: false } }) {
      nodes {
        silenceId version reason alertIds groupIds tagNames physicalIds startsAt endsAt isActive createdBy
        weekly { weekday from until } occurrences(from: $from, until: $until) { startsAt endsAt }
      }
    }
    former: silences(last: 25, filter: { isEnded: { eq: true } }) { nodes { silenceId reason startsAt endsAt createdBy } }
  }
`);

export type Silence = NonNullable<ResultOf<typeof query>['silences']>['nodes'][number];
type Former = NonNullable<ResultOf<typeof query>['former']>['nodes'][number];

/** How many names of a list of a silence are shown. */
const mostNames = 3;

/** How many days the calendar shows. */
const daysShown = 14;

/** The spans of time in which alerts notify nobody. */
export default function Silences() {
  const may = useMay('VIEW_MONITORING_ALERTS');
  const { isRestricted } = useViewer();
  if (!may || isRestricted) return <Frame current="silences"><Empty>{may ? 'Silences are for users of the whole company.' : 'You need the permission View Monitoring Alerts to see silences.'}</Empty></Frame>;
  return <Frame current="silences"><All /></Frame>;
}

function All() {
  const timeZone = useZone();
  const mayAdd = useMay('VIEW_MONITORING_ALERTS', 'ADD_MONITORING_ALERTS', 'VIEW_SUBSCRIBER');
  const [making, setMaking] = useState(false);
  const days = useMemo(() => Array.from({ length: daysShown + 1 }, (_, i) => startOfDay(Date.now(), timeZone, { days: i })), [timeZone]);
  const asked = useAsk(query, { from: new Date(days[0]!).toISOString(), until: new Date(days.at(-1)!).toISOString() });
  return (
    <>
      <Panel id="silences" title="Silences" aside={mayAdd && <button type="button" onClick={() => setMaking(true)}>New silence</button>}>
        <p className="hint">What fires while a silence covers it is logged, and nobody is notified, now or later.</p>
        <Answered asked={asked} of={({ silences }) => silences} label="Reading silences">
          {({ nodes }) => (nodes.length === 0 ? <Empty>Nothing is silenced.</Empty> : (
            <>
              <Strip days={days} silences={nodes} />
              <Cards all={nodes} />
            </>
          ))}
        </Answered>
        {making && <SilenceForm close={() => setMaking(false)} />}
      </Panel>
      {(asked.data ?? asked.former)?.former?.nodes.length ? <Past all={(asked.data ?? asked.former)!.former!.nodes} /> : null}
    </>
  );
}

function Cards({ all }: { all: Silence[] }) {
  const alerts = useNames(nouns.alert, all.flatMap(({ alertIds }) => alertIds.map(String)));
  const groups = useGroupNames(all.flatMap(({ groupIds }) => groupIds));
  return <ul className="cards" aria-label="Silences">{all.map((one) => <One key={one.silenceId} of={one} names={{ alerts, groups }} />)}</ul>;
}

interface Names {
  alerts: ReadonlyMap<string, string>;
  groups: ReadonlyMap<string, string>;
}

function One({ of, names }: { of: Silence; names: Names }) {
  const timeZone = useZone();
  const mayEdit = useMay('VIEW_MONITORING_ALERTS', 'EDIT_MONITORING_ALERTS', 'VIEW_SUBSCRIBER');
  const [open, setOpen] = useState<'edit' | 'end' | null>(null);
  const begun = Date.parse(of.startsAt) <= Date.now();
  return (
    <li>
      <div className="card-head">
        <strong>{of.reason}</strong>
        {of.isActive ? <span className="badge upper">silencing now</span> : <span className="badge">{begun ? 'between its windows' : 'later'}</span>}
        <span className="grow" />
        {mayEdit && <button type="button" className="quiet" onClick={() => setOpen('edit')} aria-label={`Change ${of.reason}`}>Change</button>}
        {mayEdit && <button type="button" className="quiet" onClick={() => setOpen('end')} aria-label={`End ${of.reason}`}>End</button>}
      </div>
      <p className="hint">{matched(of, names)}, {moment(of.startsAt, timeZone)} to {moment(of.endsAt, timeZone)}{of.weekly.length > 0 && `: ${windowsOf(of)}`}. {of.createdBy && `By ${of.createdBy}.`}</p>
      {open === 'edit' && <SilenceForm of={of} close={() => setOpen(null)} />}
      {open === 'end' && <EndSilence silenceId={of.silenceId} begun={begun} close={() => setOpen(null)} />}
    </li>
  );
}

function Past({ all }: { all: Former[] }) {
  const timeZone = useZone();
  return (
    <Panel id="past-silences" title="Past silences">
      <ul className="plain-list" aria-label="Past silences">
        {[...all].reverse().map(({ silenceId, reason, startsAt, endsAt, createdBy }) => (
          <li key={silenceId}><strong>{reason}</strong> <span className="hint">{moment(startsAt, timeZone)} to {moment(endsAt, timeZone)}{createdBy && `, by ${createdBy}`}</span></li>
        ))}
      </ul>
    </Panel>
  );
}

/** What a silence matches, in names. */
function matched({ alertIds, groupIds, tagNames, physicalIds }: Silence, { alerts, groups }: Names): string {
  const named = (ids: readonly number[], of: ReadonlyMap<string, string>, noun: string) => ids.map((id) => of.get(String(id)) ?? `${noun} ${id}`);
  const some = (names: readonly string[], noun: string) => names.length > 0 && `${noun}${names.length === 1 ? '' : 's'} ${names.slice(0, mostNames).join(', ')}${names.length > mostNames ? ` and ${count(names.length - mostNames)} more` : ''}`;
  const parts = [some(named(alertIds, alerts, 'alert'), 'alert'), some(named(groupIds, groups, 'group'), 'group'), some(tagNames, 'tag'), some(physicalIds, 'subscriber')].filter(Boolean);
  return parts.length === 0 ? 'Every alert' : `What fits ${parts.join(' and ')}`;
}

/** The windows of a week, those with the same times together. */
function windowsOf({ weekly }: Silence): string {
  const byTimes = new Map<string, string[]>();
  for (const { weekday, from, until } of weekly) {
    const times = `${from} to ${until}`;
    byTimes.set(times, [...(byTimes.get(times) ?? []), weekdays.find(({ value }) => value === weekday)!.name]);
  }
  return [...byTimes].map(([times, days]) => `${days.join(', ')} ${times}`).join('; ');
}
