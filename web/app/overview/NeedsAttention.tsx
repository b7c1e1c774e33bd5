import { useEffect, useMemo } from 'react';
import { graphql } from '../graph/graphql';
import { useAsk } from '../graph/use';
import { count } from '../format/units';
import { failing } from '../alerts/webhooks';
import { refused } from '../alerts/words';
import { late } from '../sources/late';
import { Failure, Panel } from '../shell/parts';
import { to, toSubscribers } from '../shell/route';
import { useMay, useViewer } from '../shell/viewer';
import { type Filter, states } from '../subscribers/filters';

const query = graphql(`
  query NeedsAttention(
    $subscribers: Boolean!, $silent: SubscriberFilter, $barred: SubscriberFilter, $alerts: Boolean!, $failing: WebhookFilter,
    $sources: Boolean!, $late: FeedElementFilter, $recipients: Boolean!, $refused: RecipientFilter
  ) {
    silent: subscribers(first: 0, filter: $silent) @include(if: $subscribers) { totalCount }
    barred: subscribers(first: 0, filter: $barred) @include(if: $subscribers) { totalCount }
    firing: alertLog(first: 0, filter: { isOpen: { eq: true } }) @include(if: $alerts) { totalCount }
    webhooks(first: 0, filter: $failing) @include(if: $alerts) { totalCount }
    company @include(if: $sources) { feedElements(first: 0, filter: $late) { totalCount } }
    recipients(first: 0, filter: $refused) @include(if: $recipients) { totalCount }
  }
`);
const minute = 60_000;

/** What asks for something to be done, each as a number that leads to what it counts. It is not there when nothing does. */
export function NeedsAttention() {
  const { isRestricted } = useViewer();
  const may = { subscribers: useMay('VIEW_SUBSCRIBER'), alerts: useMay('VIEW_MONITORING_ALERTS'), sources: useMay('VIEW_STATISTICS_OVERVIEW') };
  const recipients = useMay('VIEW_MONITORING_ALERTS', 'VIEW_A_USERS_DETAILS') && !isRestricted;
  const filters = useMemo(() => ({ silent: states.silent!.filter(Date.now()) as Filter, barred: states.barred!.filter(0) as Filter, failing, late, refused }), []);
  const asked = useAsk(may.subscribers || may.alerts || may.sources ? query : null, { ...may, recipients, ...filters });
  const { data, problem, reload } = asked;
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && reload(), minute);
    return () => clearInterval(timer);
  }, [reload]);
  const lines: [number | null | undefined, one: string, many: string, href: string][] = [
    [data?.silent?.totalCount, 'subscriber silent for 24 hours', 'subscribers silent for 24 hours', toSubscribers({ state: 'silent', order: 'LAST_SEEN_AT.ASC' })],
    [data?.barred?.totalCount, 'subscriber barred', 'subscribers barred', toSubscribers({ state: 'barred' })],
    [data?.firing?.totalCount, 'condition lasts now', 'conditions last now', to('conditions', { now: '1' })],
    [data?.webhooks?.totalCount, 'webhook fails', 'webhooks fail', to('webhooks', { failing: '1' })],
    [data?.company?.feedElements?.totalCount, 'network element reports late', 'network elements report late', to('sources', { late: '1' })],
    [data?.recipients?.totalCount, 'address refused mail', 'addresses refused mail', to('recipients', { refused: '1' })],
  ];
  const some = lines.filter(([n]) => n);
  const failed = problem?.code === 'FORBIDDEN' ? undefined : problem;
  if (some.length === 0 && !failed) return null;
  return (
    <Panel id="attention" title="Needs attention">
      {failed && <Failure problem={failed} retry={reload} />}
      <ul className="attention">
        {some.map(([n, one, many, href]) => (
          <li key={one}><a href={href}><strong>{count(n!)}</strong> {n === 1 ? one : many}</a></li>
        ))}
      </ul>
    </Panel>
  );
}
