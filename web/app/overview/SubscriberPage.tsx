import { useState } from 'react';
import { SilenceButton, SilencedNow } from '../alerts/SilenceHere';
import type { Place } from '../alerts/silences';
import { operation } from '../graph/graphql';
import { useAsk } from '../graph/use';
import { Empty, Failure, Loading } from '../shell/parts';
import { toSubscribers } from '../shell/route';
import { useViewer } from '../shell/viewer';
import BulkChange from '../subscribers/BulkChange';
import { SubscriberForm } from '../subscribers/SubscriberForm';
import { Alerts } from './Alerts';
import { Commands } from './Commands';
import { Facts } from './Facts';
import { Nickname } from './Nickname';
import { States } from './States';
import { SubscriberSessions } from './SubscriberSessions';
import { SubscriberTags } from './SubscriberTags';
import { SubscriberUsage } from './SubscriberUsage';
import type { Subscriber } from './subscriber';
import { TimeLine } from './TimeLine';

const query = operation(`query Subscriber($physicalId: String!) {
  subscriber(by: {physicalId: $physicalId}) {
    kind physicalId version subscriberId dataNumber imsi fixedIpAddress nickname operatorName operatorCode
    tariffName lineRental contractLength tariff { currency }
    connectionDate expiryDate terminateDate isBarred isActive subscriberType
    group { groupId name } networkState { isTransferring isOnline } eid smdpProvider
    parent { physicalId isEnabledOnParent } profiles { physicalId nickname } dataUsage
    tags(limit: 100) { name }
  }
}`);

/** Everything of one subscriber, with what can be changed in place. */
export default function SubscriberPage({ id: physicalId }: { id: string }) {
  const { data, problem, reload } = useAsk<{ subscriber: Subscriber | null }>(query, { physicalId });
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
  return (
    <div className="page">
      <p className="crumbs"><a href={toSubscribers()}>Subscribers</a></p>
      <div className="heading">
        <div>
          <Nickname of={subscriber} changed={reload} />
          <p className="hint mono">{physicalId}</p>
        </div>
        <div className="row">
          <States of={subscriber} />
          <SilenceButton of={[place]} />
          {permissions.includes('MANAGE_INVENTORY') && <button type="button" onClick={() => setEditing(true)}>Edit the record</button>}
          {permissions.includes('MANAGE_INVENTORY') && <button type="button" onClick={() => setChanging(true)}>Change …</button>}
        </div>
      </div>
      <SilencedNow of={place} />
      {changing && <BulkChange title={`Change ${subscriber.nickname || physicalId}`} ids={new Set([physicalId])} close={() => setChanging(false)} />}
      {editing && <SubscriberForm of={subscriber} close={() => setEditing(false)} saved={reload} />}
      {problem && <Failure problem={problem} retry={problem.code === 'FORBIDDEN' ? undefined : reload} />}
      <SubscriberUsage subscriber={subscriber} />
      <SubscriberSessions physicalId={physicalId} changed={reload} />
      <div className="columns wide-left">
        <Alerts subscriber={subscriber} />
        <div className="stack">
          {subscriber.tags && <SubscriberTags physicalId={physicalId} tags={subscriber.tags.map(({ name }) => name)} changed={reload} />}
          <Facts of={subscriber} />
          <Commands physicalId={physicalId} />
        </div>
      </div>
      <TimeLine physicalId={physicalId} />
    </div>
  );
}
