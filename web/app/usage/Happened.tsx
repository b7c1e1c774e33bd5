import { useMemo } from 'react';
import type { Mark } from '../chart/Plot';
import { moment } from '../format/time';
import { graphql } from '../graph/graphql';
import { useAsk } from '../graph/use';
import { to } from '../shell/route';
import { useMay, useViewer } from '../shell/viewer';
import type { Asked } from './span';

const query = graphql(`
  query HappenedMeanwhile($from: DateTime!, $to: DateTime!, $alerts: Boolean!, $operations: Boolean!, $silences: Boolean!, $sources: Boolean!, $ended: DateTime!) {
    alertLog(first: 50, filter: { state: { eq: FIRED }, createdAt: { ge: $from, lt: $to } }) @include(if: $alerts) { nodes { __typename id alertId text createdAt } pageInfo { hasNextPage } }
    operations(first: 50, filter: { isDryRun: { eq: false }, startedAt: { ge: $from, lt: $to } }) @include(if: $operations) { nodes { operationId description startedAt } pageInfo { hasNextPage } }
    silences(first: 50, filter: { startsAt: { lt: $to }, endsAt: { gt: $from } }) @include(if: $silences) { nodes { silenceId reason startsAt } pageInfo { hasNextPage } }
    company @include(if: $sources) { feedElements(first: 50, filter: { nas: { eq: null }, completeUntil: { ge: $from, lt: $ended } }) { nodes { source completeUntil } pageInfo { hasNextPage } } }
  }
`);

export interface Happening {
  key: string;
  at: number;
  kind: string;
  text: string;
  href: string;
  color: string;
}

/** How long a source brings nothing before that is marked. */
const outage = 3_600_000;

/** What happened in the span: alerts that fired, operations, silences, sources that bring nothing since; those of each that the caller may see, at most 50. */
export function useHappened(asked: Asked | null): { happened: Happening[]; isCut: boolean } {
  const alerts = useMay('VIEW_MONITORING_ALERTS');
  const operations = useMay('VIEW_SUBSCRIBER');
  const sources = useMay('VIEW_STATISTICS_OVERVIEW');
  const { isRestricted } = useViewer();
  const instant = (at: number) => new Date(at).toISOString();
  const { data } = useAsk(asked ? query : null, { from: instant(asked?.from ?? 0), to: instant(asked?.to ?? 0), alerts, operations, silences: alerts && !isRestricted, sources, ended: instant((asked?.to ?? 0) - outage) });
  return useMemo(() => {
    const happened: Happening[] = [
      ...(data?.alertLog?.nodes ?? []).map(({ id, alertId, text, createdAt }) => ({
        key: id, at: Date.parse(createdAt), kind: 'Alert', text, href: alertId === null ? to('alertLog') : to('alert', {}, String(alertId)), color: '--bad',
      })),
      ...(data?.operations?.nodes ?? []).map(({ operationId, description, startedAt }) => ({
        key: operationId, at: Date.parse(startedAt), kind: 'Operation', text: description, href: to('operation', {}, operationId), color: '--accent',
      })),
      ...(data?.silences?.nodes ?? []).map(({ silenceId, reason, startsAt }) => ({
        key: `silence ${silenceId}`, at: Date.parse(startsAt), kind: 'Silence', text: reason, href: to('silences'), color: '--muted',
      })),
      ...(data?.company?.feedElements?.nodes ?? []).flatMap(({ source, completeUntil }) => (completeUntil === null ? [] : [{
        key: `source ${source}`, at: Date.parse(completeUntil), kind: 'Source', text: `${source} brings no usage since`, href: to('sources'), color: '--warn',
      }])),
    ];
    const isCut = [data?.alertLog, data?.operations, data?.silences, data?.company?.feedElements].some((list) => list?.pageInfo.hasNextPage);
    return { happened: happened.sort((a, b) => a.at - b.at), isCut };
  }, [data]);
}

export const marksOf = (happened: Happening[]): Mark[] => happened.map(({ at, color }) => ({ at: at / 1000, color }));

/** What the lines across a chart are. */
export function Happened({ of, isCut, timeZone }: { of: Happening[]; isCut: boolean; timeZone: string }) {
  if (of.length === 0) return null;
  return (
    <details className="numbers">
      <summary>{of.length}{isCut && ' and more'} marks: alerts, operations, silences and sources</summary>
      <ul className="plain-list">
        {of.map(({ key, at, kind, text, href, color }) => (
          <li key={key}><i className="mark" style={{ background: `var(${color})` }} /> {moment(at, timeZone)} · <a href={href}>{kind}</a> <span className="hint">{text}</span></li>
        ))}
      </ul>
      {isCut && <p className="hint">Those marked are the first 50 of each kind.</p>}
    </details>
  );
}
