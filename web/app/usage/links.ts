import { dateOf } from '../format/time';
import { to, toSubscriber, toSubscribers } from '../shell/route';
import type { Part } from './ask';
import { type Definition, paramsOf } from './question';

/** What the list of subscribers has beside the split: the group or tag that the question is about. */
function subjectOf({ groupId, tagName }: Definition): [string, string][] {
  return groupId !== null ? [['group', String(groupId)]] : tagName !== null ? [['tag', tagName]] : [];
}

/** Where a part of an answer leads: the subscribers whose usage it sums up now; null for what has no list. */
export function listOf(d: Definition, { value, isOthers }: Part): string | null {
  if (isOthers) return null;
  const where = (condition: [string, string]) => toSubscribers(new URLSearchParams([...subjectOf(d), condition]));
  switch (d.split) {
    case 'GROUP': return where(value === null ? ['where', 'groupId.none'] : ['group', value]);
    case 'TAG': return value === null ? null : where(['tag', value]);
    case 'OPERATOR': return value === null ? null : where(['where', `operatorCode.eq.${value}`]);
    case 'TARIFF': return value === null ? null : where(['where', `tariffName.eq.${value}`]);
    case 'KIND': return value === null ? null : where(['where', `kind.eq.${value}`]);
    case 'SOURCE': return to('sources');
    case 'SUBSCRIBER': return value === null ? null : toSubscriber(value);
    case 'COUNTRY':
    case 'PROTOCOL': return null;
  }
  return d.physicalId !== null ? toSubscriber(d.physicalId) : toSubscribers(new URLSearchParams(subjectOf(d)));
}

/** The address of the same question about one step of it; null for an hour. */
export function stepOf(d: Definition, from: number, end: number, timeZone: string): string | null {
  if (d.interval === 'HOUR') return null;
  const [firstDay, lastDay] = [dateOf(from, timeZone), dateOf(end - 1, timeZone)];
  return to('usage', paramsOf({ ...d, span: 'DAYS', firstDay, lastDay, interval: d.interval === 'DAY' ? 'HOUR' : 'DAY' }));
}
