import { useMemo, useState } from 'react';
import { moment, startOfDay } from '../format/time';
import { count } from '../format/units';
import { graphql, type ResultOf } from '../graph/graphql';
import { mutate, useAsk, useDo } from '../graph/use';
import { Dialog } from '../shell/Dialog';
import { Answered, Empty, Failure, Panel } from '../shell/parts';
import { useMay, useViewer, useZone } from '../shell/viewer';
import { Frame } from './Frame';
import { SilenceForm } from './SilenceForm';
import { Strip } from './SilenceStrip';
import { weekdays } from './words';

const query = graphql(`
  query Silences($from: DateTime!, $until: DateTime!) {
    silences(first: 100, ended: false) {
      nodes {
        silenceId reason alertIds groupIds tagNames physicalIds startsAt endsAt isActive createdBy
        weekly { weekday from until } occurrences(from: $from, until: $until) { start end }
      }
    }
    former: silences(last: 25, ended: true) { nodes { silenceId reason startsAt endsAt createdBy } }
  }
`);
const end = graphql('mutation EndSilence($input: EndSilenceInput!) { endSilence(input: $input) { silence { silenceId } } }');

export type Silence = NonNullable<ResultOf<typeof query>['silences']>['nodes'][number];
type Former = NonNullable<ResultOf<typeof query>['former']>['nodes'][number];

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
              <ul className="cards" aria-label="Silences">{nodes.map((one) => <One key={one.silenceId} of={one} />)}</ul>
            </>
          ))}
        </Answered>
        {making && <SilenceForm close={() => setMaking(false)} />}
      </Panel>
      {(asked.data ?? asked.former)?.former?.nodes.length ? <Past all={(asked.data ?? asked.former)!.former!.nodes} /> : null}
    </>
  );
}

function One({ of }: { of: Silence }) {
  const timeZone = useZone();
  const mayEdit = useMay('VIEW_MONITORING_ALERTS', 'EDIT_MONITORING_ALERTS', 'VIEW_SUBSCRIBER');
  const [open, setOpen] = useState<'edit' | 'end' | null>(null);
  const stop = useDo(async () => void (await mutate(end, { input: { silenceId: of.silenceId } })));
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
      <p className="hint">{matched(of)}, {moment(of.startsAt, timeZone)} to {moment(of.endsAt, timeZone)}{of.weekly.length > 0 && `: ${windowsOf(of)}`}. {of.createdBy && `By ${of.createdBy}.`}</p>
      {stop.problem && <Failure problem={stop.problem} />}
      {open === 'edit' && <SilenceForm of={of} close={() => setOpen(null)} />}
      {open === 'end' && (
        <Dialog title={begun ? 'End this silence now?' : 'Remove this silence?'} cancel={() => setOpen(null)}>
          <p>{begun ? 'Alerts that fire from now on are notified of again. What fired meanwhile stays unsent.' : 'It has not begun, and will not.'}</p>
          <p className="actions">
            <button type="button" autoFocus onClick={() => setOpen(null)}>Keep it</button>
            <button type="button" className="danger" disabled={stop.busy} onClick={() => { setOpen(null); void stop.run(); }}>{begun ? 'End the silence' : 'Remove the silence'}</button>
          </p>
        </Dialog>
      )}
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

/** What a silence matches, in words. */
function matched({ alertIds, groupIds, tagNames, physicalIds }: Silence): string {
  const some = (n: number, noun: string) => n > 0 && `${count(n)} ${noun}${n === 1 ? '' : 's'}`;
  const parts = [some(alertIds.length, 'alert'), some(groupIds.length, 'group'), some(tagNames.length, 'tag'), some(physicalIds.length, 'subscriber')].filter(Boolean);
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
