import { useState } from 'react';
import { SilenceButton, SilencedNow } from '../alerts/SilenceHere';
import type { Place } from '../alerts/silences';
import { graphql } from '../graph/graphql';
import { useLive, useSoon } from '../graph/live';
import { useAsk } from '../graph/use';
import { Empty, Failure, Loading } from '../shell/parts';
import { toSubscribers } from '../shell/route';
import { useMay, useViewer } from '../shell/viewer';
import BulkChange from '../subscribers/BulkChange';
import { SubscriberForm } from '../subscribers/SubscriberForm';
import { TabPanel } from '../ui/TabPanel';
import '../styles/lists.css';
import '../styles/subscriber.css';
import { Alerts } from './Alerts';
import { Commands } from './Commands';
import { Facts } from './Facts';
import { Nickname } from './Nickname';
import { SubscriberSessions } from './SubscriberSessions';
import { SubscriberTags } from './SubscriberTags';
import { SubscriberUsage } from './SubscriberUsage';
import { tabOf, tabs, toTab } from './tabs';
import { TimeLine } from './TimeLine';

const query = graphql(`query Subscriber($physicalId: String!) {
  subscriber(by: {physicalId: $physicalId}) {
    kind physicalId version subscriberId dataNumber imsi fixedIpAddress nickname operatorName operatorCode
    tariffName lineRental contractLength tariff { currency }
    connectionDate expiryDate terminateDate isBarred isActive subscriberType
    group { groupId name } networkState { isTransferring isOnline } eid smdpProvider
    parent { physicalId isEnabledOnParent } profiles { physicalId nickname } dataUsage
    tags(limit: 100) { name }
  }
}`);

const state = graphql('subscription SubscriberState($physicalIds: [String!]) { subscriberChanged(physicalIds: $physicalIds) { physicalId } }');

/** Everything of one subscriber: its facts beside what happened with it, with what can be changed in place. */
export default function SubscriberPage({ id: physicalId, params }: { id: string; params: URLSearchParams }) {
  const { data, problem, reload } = useAsk(query, { physicalId });
  const soon = useSoon(reload, 2_000);
  useLive(useMay('VIEW_SUBSCRIBER') ? state : null, { next: soon, connected: soon, variables: { physicalIds: [physicalId] } });
  const subscriber = data?.subscriber;
  const { permissions } = useViewer();
  const [changing, setChanging] = useState(false);
  const [editing, setEditing] = useState(false);
  if (!subscriber)
    return (
      <div className="page">
        {problem && <Failure problem={problem} retry={reload} more={<a href={toSubscribers()}>All subscribers</a>} />}
        {data && !problem && <Empty>There is no subscriber {physicalId}. <a href={toSubscribers()}>All subscribers</a></Empty>}
        {!data && !problem && <Loading label="Reading the subscriber" />}
      </div>
    );
  const place: Place = { kind: 'subscriber', name: subscriber.nickname || physicalId, physicalId, groupId: subscriber.group?.groupId, tags: subscriber.tags?.map(({ name }) => name) };
  const shown = tabOf(params);
  return (
    <div className="page">
      <p className="crumbs"><a href={toSubscribers()}>Subscribers</a></p>
      <div className="heading">
        <div>
          <Nickname of={subscriber} changed={reload} />
          <p className="hint mono">{physicalId}</p>
        </div>
        <div className="row">
          <SilenceButton of={[place]} />
          {permissions.includes('MANAGE_INVENTORY') && <button type="button" onClick={() => setEditing(true)}>Edit the record</button>}
          {permissions.includes('MANAGE_INVENTORY') && <button type="button" onClick={() => setChanging(true)}>Change …</button>}
        </div>
      </div>
      <SilencedNow of={place} />
      {changing && <BulkChange title={`Change ${subscriber.nickname || physicalId}`} ids={new Set([physicalId])} close={() => setChanging(false)} />}
      {editing && <SubscriberForm of={subscriber} close={() => setEditing(false)} saved={reload} />}
      {problem && <Failure problem={problem} retry={problem.code === 'FORBIDDEN' ? undefined : reload} />}
      <div className="with-rail">
        <div className="rail stack">
          <Facts of={subscriber} />
          {subscriber.tags && <SubscriberTags physicalId={physicalId} tags={subscriber.tags.map(({ name }) => name)} changed={reload} />}
        </div>
        <div className="stack">
          <TabPanel label="Parts of the subscriber" shown={shown} tabs={tabs.map(([key, name]) => ({ key, name, href: toTab(physicalId, key, params) }))}>
            {shown === 'usage' && <SubscriberUsage subscriber={subscriber} params={params} />}
            {shown === 'sessions' && <SubscriberSessions physicalId={physicalId} params={params} />}
            {shown === 'alerts' && <Alerts subscriber={subscriber} />}
            {shown === 'history' && <><Commands physicalId={physicalId} /><TimeLine physicalId={physicalId} /></>}
          </TabPanel>
        </div>
      </div>
    </div>
  );
}
