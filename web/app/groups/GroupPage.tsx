import { useState } from 'react';
import { bytes, count, useSystem } from '../format/units';
import { SilenceButton, SilencedNow } from '../alerts/SilenceHere';
import type { Place } from '../alerts/silences';
import { alertName, kinds, limitOf } from '../alerts/conditions';
import { rules } from '../alerts/words';
import { Bars } from '../chart/Bars';
import { graphql, type ResultOf } from '../graph/graphql';
import { useAsk } from '../graph/use';
import { Empty, Failure, Loading, Panel } from '../shell/parts';
import { to, toSubscriber, toSubscribers } from '../shell/route';
import { useMay } from '../shell/viewer';
import '../styles/lists.css';
import { GroupForm } from './GroupForm';
import { GroupUsage } from './GroupUsage';

const query = graphql(`
  query GroupOnPage($groupId: Int!, $usage: Boolean!, $alerts: Boolean!) {
    group(by: {groupId: $groupId}) {
      groupId version name isTariffHidden numberOfSubscribers numberOfUsers
      active: subscribers(first: 0, filter: { isActive: { eq: true } }) { totalCount }
      online: subscribers(first: 0, filter: { networkState: { isOnline: { eq: true } } }) { totalCount }
      barred: subscribers(first: 0, filter: { isBarred: { eq: true } }) { totalCount }
      usage @include(if: $usage) {
        totals { total mobileOriginated mobileTerminated } series(interval: DAY) { start mobileOriginated mobileTerminated total sessions } previous { totals { total } }
        topSubscribers(first: 8) { subscriber { physicalId nickname } total mobileOriginated mobileTerminated }
      }
      alerts(first: 25) @include(if: $alerts) {
        nodes { ...AlertName alertId status }
        totalCount
      }
    }
  }
`, [alertName]);

type Group = NonNullable<ResultOf<typeof query>['group']>;

/** One group: its members, usage and alerts. */
export default function GroupPage({ id }: { id: string }) {
  const may = useMay('VIEW_SUBSCRIBER');
  const usage = useMay('VIEW_STATISTICS_OVERVIEW');
  const alerts = useMay('VIEW_MONITORING_ALERTS', 'VIEW_A_USERS_DETAILS');
  const known = /^\d{1,9}$/.test(id);
  const { data, problem, reload } = useAsk(may && known ? query : null, { groupId: Number(id), usage, alerts });
  const group = data?.group;
  return (
    <div className="page">
      <p className="crumbs"><a href={to('groups')}>Groups</a></p>
      {!may && <Empty>You need the permission View Subscriber to see groups.</Empty>}
      {!known && <Empty>A group has a number. <a href={to('groups')}>All groups</a></Empty>}
      {problem && <Failure problem={problem} retry={reload} more={<a href={to('groups')}>All groups</a>} />}
      {may && known && !data && !problem && <Loading label="Reading the group" />}
      {data && !group && !problem && <Empty>There is no group {id}. <a href={to('groups')}>All groups</a></Empty>}
      {group && <Whole group={group} />}
    </div>
  );
}

function Whole({ group }: { group: Group }) {
  const mayEdit = useMay('VIEW_SUBSCRIBER', 'UPDATE_THE_DETAILS_OF_A_SUBSCRIBER');
  const mayManage = useMay('MANAGE_INVENTORY');
  const [editing, setEditing] = useState(false);
  const { groupId, name, usage, alerts } = group;
  const place: Place = { kind: 'group', name, groupId };
  const members = (more: Record<string, string> = {}) => toSubscribers({ group: String(groupId), ...more });
  useSystem();
  return (
    <>
      <div className="heading">
        <div>
          <h1>{name}</h1>
          <p className="hint">Group {groupId} · {group.numberOfUsers === 1 ? '1 user sees' : `${count(group.numberOfUsers ?? 0)} users see`} only its subscribers{group.isTariffHidden && ', without their tariffs'}</p>
        </div>
        <div className="row">
          <SilenceButton of={[place]} />
          {(mayEdit || mayManage) && <button type="button" onClick={() => setEditing(true)}>{mayManage ? 'Edit' : 'Rename'}</button>}
        </div>
      </div>
      <SilencedNow of={place} />
      <ul className="tiles four" aria-label="The group in numbers">
        <Tile name="Subscribers" n={group.numberOfSubscribers} href={members()} />
        <Tile name="Active" n={group.active?.totalCount} href={members({ state: 'active' })} />
        <Tile name="Online now" n={group.online?.totalCount} href={members({ state: 'online' })} />
        <Tile name="Barred" n={group.barred?.totalCount} href={members({ state: 'barred' })} />
      </ul>
      {usage && <GroupUsage of={usage} name={name} subject={{ groupId }} />}
      <div className="columns">
        {usage?.topSubscribers && (
          <Panel id="top" title="Most usage" aside={<a href={members({ order: 'DATA_USAGE.DESC' })}>All members</a>}>
            {usage.topSubscribers.length === 0 ? <Empty>None of them has used data.</Empty> : (
              <Bars label="Members with the most usage" legend={['Received (MT)', 'Sent (MO)']} bars={usage.topSubscribers.map(({ subscriber, total, mobileOriginated, mobileTerminated }) => ({
                label: subscriber ? <a href={toSubscriber(subscriber.physicalId)}>{subscriber.nickname || subscriber.physicalId}</a> : 'unknown',
                values: [Number(mobileTerminated), Number(mobileOriginated)], text: bytes(total),
              }))} />
            )}
          </Panel>
        )}
        {alerts && <GroupAlerts alerts={alerts} groupId={groupId} />}
      </div>
      {editing && <GroupForm of={group} close={() => setEditing(false)} />}
    </>
  );
}

const Tile = ({ name, n, href }: { name: string; n: number | null | undefined; href: string }) => (
  <li className="tile"><a href={href}><span className="tile-name">{name}</span><strong>{n == null ? '–' : count(n)}</strong></a></li>
);

function GroupAlerts({ alerts, groupId }: { alerts: NonNullable<Group['alerts']>; groupId: number }) {
  const mayAdd = useMay('VIEW_MONITORING_ALERTS', 'ADD_MONITORING_ALERTS');
  return (
    <Panel id="alerts" title="Alerts" aside={mayAdd && <a href={to('newAlert', { rule: 'GROUPPR', target: String(groupId) })}>Set an alert</a>}>
      {alerts.nodes.length === 0 ? <Empty>No alert watches the group.</Empty> : (
        <ul className="entries">
          {alerts.nodes.map((of) => (
            <li key={of.alertId}>
              <span className={`badge ${of.status === 'FIRED' ? 'upper' : ''}`}>{of.status === 'FIRED' ? 'fired' : 'armed'}</span>
              <span className="entry-text"><a href={to('alert', {}, String(of.alertId))}>{of.name ?? rules[of.ruleType]}</a></span>
              <span className="hint">{of.__typename === 'VolumeAlert' ? `${bytes(of.lowerThreshold)}, ${bytes(of.upperThreshold)}` : `${kinds[of.kind]}, ${limitOf(of)}`}</span>
            </li>
          ))}
        </ul>
      )}
      {(alerts.totalCount ?? 0) > alerts.nodes.length && <p className="hint">The first {count(alerts.nodes.length)} of {count(alerts.totalCount ?? 0)}.</p>}
    </Panel>
  );
}
