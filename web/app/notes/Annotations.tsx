import { useEffect, useMemo } from 'react';
import type { Mark } from '../chart/Plot';
import { moment } from '../format/time';
import { graphql } from '../graph/graphql';
import { useAsk } from '../graph/use';
import { to as place } from '../shell/route';
import { useUndo } from '../shell/undo';
import { useMay, useViewer } from '../shell/viewer';
import '../styles/lists.css';
import '../styles/usage.css';
import { type About, hides, note, type Note, ofChart } from './note';
import { NoteTools } from './NoteTools';

export const query = graphql(`
  query HappenedMeanwhile($from: DateTime!, $to: DateTime!, $fired: AlertLogFilter!, $physicalId: String!, $notes: NoteFilter!, $alerts: Boolean!, $operations: Boolean!, $ofSubscriber: Boolean!, $silences: Boolean!, $usage: Boolean!, $ended: DateTime!) {
    alertLog(first: 50, filter: $fired) @include(if: $alerts) { nodes { __typename id alertId text createdAt } pageInfo { hasNextPage } }
    operations(first: 50, filter: { isDryRun: { eq: false }, startedAt: { ge: $from, lt: $to } }) @include(if: $operations) { nodes { operationId description startedAt } pageInfo { hasNextPage } }
    subscriber(by: { physicalId: $physicalId }) @include(if: $ofSubscriber) { operationResults(first: 50) { nodes { operation { operationId description startedAt } } } }
    silences(first: 50, filter: { startsAt: { lt: $to }, endsAt: { gt: $from } }) @include(if: $silences) { nodes { silenceId reason startsAt } pageInfo { hasNextPage } }
    company @include(if: $usage) { feedElements(first: 50, filter: { nas: { eq: null }, completeUntil: { ge: $from, lt: $ended } }) { nodes { source completeUntil } pageInfo { hasNextPage } } }
    notes(first: 50, filter: $notes) @include(if: $usage) { nodes { ...Note } pageInfo { hasNextPage } }
  }
`, [note]);

interface Happening {
  key: string;
  at: number;
  until?: number;
  kind: string;
  text: string;
  href?: string;
  color: string;
  note?: Note;
}

/** How long a source brings nothing before that is marked. */
const outage = 3_600_000;

interface Props {
  about: About;
  from: number;
  to: number;
  timeZone: string;
  setMarks: (marks: Mark[]) => void;
}

/**
 * What happened in the span of a chart: alerts that fired, operations, silences, sources that bring nothing since, and notes;
 * those of each that the viewer may see, at most 50. A chart about a subscriber has the alerts and operations of that one.
 */
export default function Annotations({ about, from, to, timeZone, setMarks }: Props) {
  const alerts = useMay('VIEW_MONITORING_ALERTS');
  const operations = useMay('VIEW_SUBSCRIBER');
  const usage = useMay('VIEW_STATISTICS_OVERVIEW');
  const { isRestricted } = useViewer();
  const { hidden } = useUndo();
  const { physicalId = null } = about;
  const instant = (at: number) => new Date(at).toISOString();
  const { data, former } = useAsk(query, {
    from: instant(from), to: instant(to), ended: instant(to - outage), notes: ofChart(about, instant(from), instant(to)), physicalId: physicalId ?? '',
    fired: { state: { eq: 'FIRED' }, createdAt: { ge: instant(from), lt: instant(to) }, ...(physicalId !== null && { physicalId: { eq: physicalId } }) },
    alerts, operations: operations && physicalId === null, ofSubscriber: operations && physicalId !== null, silences: alerts && !isRestricted, usage,
  });
  const read = data ?? former;
  const { happened, isCut } = useMemo(() => {
    const ran = read?.operations?.nodes ?? (read?.subscriber?.operationResults?.nodes ?? []).flatMap(({ operation }) => operation ?? []).filter(({ startedAt }) => Date.parse(startedAt) >= from && Date.parse(startedAt) < to);
    const happened: Happening[] = [
      ...(read?.alertLog?.nodes ?? []).map(({ id, alertId, text, createdAt }) => ({
        key: id, at: Date.parse(createdAt), kind: 'Alert', text, href: alertId === null ? place('alertLog') : place('alert', {}, String(alertId)), color: '--bad',
      })),
      ...ran.map(({ operationId, description, startedAt }) => ({
        key: operationId, at: Date.parse(startedAt), kind: 'Operation', text: description, href: place('operation', {}, operationId), color: '--accent',
      })),
      ...(read?.silences?.nodes ?? []).map(({ silenceId, reason, startsAt }) => ({
        key: `silence ${silenceId}`, at: Date.parse(startsAt), kind: 'Silence', text: reason, href: place('silences'), color: '--muted',
      })),
      ...(read?.company?.feedElements?.nodes ?? []).flatMap(({ source, completeUntil }) => (completeUntil === null ? [] : [{
        key: `source ${source}`, at: Date.parse(completeUntil), kind: 'Source', text: `${source} brings no usage since`, href: place('sources'), color: '--warn',
      }])),
      ...(read?.notes?.nodes ?? []).filter(({ noteId }) => !hidden.has(hides(noteId))).map((one) => ({
        key: one.noteId, at: Date.parse(one.startsAt), until: one.endsAt === null ? undefined : Date.parse(one.endsAt), kind: 'Note', text: one.text, color: '--text', note: one,
      })),
    ];
    const isCut = [read?.alertLog, read?.operations, read?.silences, read?.company?.feedElements, read?.notes].some((list) => list?.pageInfo.hasNextPage);
    return { happened: happened.sort((a, b) => a.at - b.at), isCut };
  }, [read, hidden, from, to]);
  useEffect(() => setMarks(happened.map(({ at, until, color }) => ({ at: at / 1000, until: until === undefined ? undefined : until / 1000, color }))), [happened, setMarks]);
  if (happened.length === 0) return null;
  return (
    <details className="numbers annotations">
      <summary>{happened.length}{isCut && ' and more'} {happened.length === 1 && !isCut ? 'mark' : 'marks'}: alerts, operations, silences, sources and notes</summary>
      <ul className="plain-list">
        {happened.map(({ key, at, until, kind, text, href, color, note }) => (
          <li key={key}>
            <i className="mark" style={{ background: `var(${color})` }} /> {moment(at, timeZone)}{until !== undefined && ` to ${moment(until, timeZone)}`} · {href ? <a href={href}>{kind}</a> : kind}{' '}
            <span className={note ? undefined : 'hint'}>{text}</span>{note?.owner && <span className="hint"> by {note.owner}</span>} {note && <NoteTools of={note} />}
          </li>
        ))}
      </ul>
      {isCut && <p className="hint">Those marked are the first 50 of each kind.</p>}
    </details>
  );
}
