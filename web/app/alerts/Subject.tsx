import { to, toSubscriber } from '../shell/route';

interface Props {
  ruleType: string;
  target: string | null;
  subscriber?: { physicalId: string; nickname: string | null } | null;
  group?: { groupId: number; name: string } | null;
}

/** What an alert watches, or whose usage exceeded it, as a link where it leads somewhere. */
export function Subject({ ruleType, target, subscriber, group }: Props) {
  if (subscriber) return <a href={toSubscriber(subscriber.physicalId)}>{subscriber.nickname || subscriber.physicalId}</a>;
  if (group) return <a href={to('group', {}, String(group.groupId))}>{group.name}</a>;
  return <span>{ruleType === 'COMPANY' ? 'The company' : ruleType === 'SIM' ? target : `Group ${target}`}</span>;
}
