import type { ReactNode } from 'react';
import { day } from '../format/time';
import { bytes } from '../format/units';
import { type ResultOf, graphql } from '../graph/graphql';
import { States } from '../overview/States';
import { to, toSubscriber, toSubscribers } from '../shell/route';
import { Ago } from '../ui/Ago';

export const query = graphql(`
  query SubscriberList($first: Int, $after: String, $filter: SubscriberFilter, $orderBy: [SubscriberOrder!], $count: Boolean!, $usage: Boolean!, $group: Boolean!, $tags: Boolean!, $tagLimit: Int, $tariff: Boolean!, $seen: Boolean!) {
    subscribers(first: $first, after: $after, filter: $filter, orderBy: $orderBy) {
      nodes {
        kind physicalId subscriberId dataNumber imsi fixedIpAddress nickname operatorName operatorCode tariffName lineRental contractLength
        connectionDate expiryDate terminateDate isBarred isActive subscriberType eid smdpProvider
        networkState { isOnline isTransferring } parent { physicalId isEnabledOnParent }
        dataUsage @include(if: $usage) group @include(if: $group) { groupId name } tags(limit: $tagLimit) @include(if: $tags) { name } numberOfTags @include(if: $tags) tariff @include(if: $tariff) { currency } lastSeenAt @include(if: $seen)
      }
      totalCount @include(if: $count)
      pageInfo { endCursor hasNextPage }
    }
  }
`);

/** How many tags a row shows, and how many a file holds of each subscriber. */
const tagsShown = 4;
export const tagsExported = 100;

export type Row = NonNullable<ResultOf<typeof query>['subscribers']>['nodes'][number];

export interface Shown {
  key: string;
  name: string;
  width: number;
  kind?: 'number' | 'mono';
  /** The field of SubscriberOrderField, and the direction that a first click chooses. */
  order?: string;
  down?: boolean;
  phone?: 'left' | 'right';
  cell: (row: Row, timeZone: string) => ReactNode;
  /** What a file holds: exact, where the page rounds. */
  text: (row: Row) => string | number | null;
}

const none = <span className="hint">–</span>;
const plain = (key: keyof Row, name: string, width: number, order: string, more: Partial<Shown> = {}): Shown => ({
  key, name, width, order,
  cell: (row) => (row[key] === null || row[key] === '' ? none : String(row[key])),
  text: (row) => row[key] as string | number | null,
  ...more,
});
const dated = (key: 'connectionDate' | 'expiryDate' | 'terminateDate', name: string, order: string): Shown =>
  plain(key, name, 125, order, { cell: (row, timeZone) => (row[key] === null ? none : day(row[key], timeZone)) });

const tariffs: Record<string, string> = { CELLULAR: 'cellular', NON_IP: 'non-IP', SATELLITE: 'satellite' };

export const columns: Shown[] = [
  plain('nickname', 'Subscriber', 230, 'NICKNAME', { cell: (row) => <a href={toSubscriber(row.physicalId)} className={row.nickname ? undefined : 'mono'}>{row.nickname || row.physicalId}</a> }),
  { key: 'states', name: 'State', width: 170, cell: (row) => <States of={row} />, text: statesOf },
  { key: 'lastSeen', name: 'Last seen', width: 130, order: 'LAST_SEEN_AT', down: true, cell: ({ lastSeenAt }) => <Ago at={lastSeenAt ?? null} none="never" />, text: ({ lastSeenAt }) => lastSeenAt ?? null },
  { key: 'usage', name: 'This period', phone: 'right', width: 120, kind: 'number', order: 'DATA_USAGE', down: true, cell: ({ dataUsage }) => (dataUsage == null ? none : bytes(dataUsage)), text: ({ dataUsage }) => dataUsage ?? null },
  plain('physicalId', 'Physical ID', 200, 'PHYSICAL_ID', { kind: 'mono' }),
  plain('subscriberId', 'Number', 160, 'SUBSCRIBER_ID', { kind: 'mono' }),
  { key: 'group', name: 'Group', phone: 'left', width: 180, order: 'GROUP_ID', cell: ({ group }) => (group ? <a href={toSubscribers({ group: String(group.groupId) })}>{group.name}</a> : none), text: ({ group }) => group?.name ?? null },
  { key: 'tags', name: 'Tags', width: 200, cell: tagsOf, text: ({ tags }) => tags?.map(({ name }) => name).join(', ') ?? null },
  plain('operatorName', 'Operator', 150, 'OPERATOR_NAME'),
  plain('operatorCode', 'Operator code', 120, 'OPERATOR_CODE', { kind: 'mono' }),
  plain('tariffName', 'Tariff', 160, 'TARIFF_NAME', { cell: ({ tariffName }) => tariffName ?? <span className="hint">hidden</span> }),
  plain('lineRental', 'Line rental', 120, 'LINE_RENTAL', { kind: 'number', cell: (row) => rentalOf(row) ?? none }),
  plain('contractLength', 'Months', 90, 'CONTRACT_LENGTH', { kind: 'number' }),
  dated('connectionDate', 'Connected', 'CONNECTION_DATE'),
  dated('expiryDate', 'Contract ends', 'EXPIRY_DATE'),
  dated('terminateDate', 'Terminated', 'TERMINATE_DATE'),
  plain('imsi', 'IMSI', 170, 'IMSI', { kind: 'mono' }),
  plain('fixedIpAddress', 'Fixed address', 170, 'FIXED_IP_ADDRESS', { kind: 'mono' }),
  plain('dataNumber', 'Data number', 150, 'DATA_NUMBER', { kind: 'mono' }),
  plain('kind', 'Kind', 100, 'KIND', { cell: ({ kind }) => tariffs[kind] ?? kind }),
  plain('subscriberType', 'Type', 130, 'SUBSCRIBER_TYPE', { cell: ({ subscriberType }) => (subscriberType === 'PHYSICAL' ? 'physical' : 'virtual profile') }),
  plain('eid', 'EID', 290, 'EID', { kind: 'mono' }),
  plain('smdpProvider', 'SM-DP+', 170, 'SMDP_PROVIDER'),
  { key: 'parent', name: 'On eUICC', width: 210, kind: 'mono', order: 'RELATED_PARENT_PHYSICAL_ID', cell: ({ parent }) => (parent ? <a href={to('subscriber', {}, parent.physicalId)}>{parent.physicalId}</a> : none), text: ({ parent }) => parent?.physicalId ?? null },
];

const usual = ['nickname', 'physicalId', 'subscriberId', 'states', 'lastSeen', 'usage', 'group', 'operatorName', 'tariffName'];

/** The columns that the address chooses, in the order of all. The first names the subscriber and is always there. */
export function chosenColumns(params: URLSearchParams): Shown[] {
  const named = params.get('columns')?.split(',').filter((key) => columns.some((column) => column.key === key));
  const keys = named?.length ? named : usual;
  return columns.filter(({ key }, i) => i === 0 || keys.includes(key));
}

/** What the columns read beside the subscriber itself. */
export const relationsOf = (shown: Shown[]) => {
  const has = (key: string) => shown.some((column) => column.key === key);
  return { usage: has('usage'), group: has('group'), tags: has('tags'), tagLimit: tagsShown, tariff: has('lineRental'), seen: has('lastSeen') };
};

type Direction = 'ASC' | 'DESC';

/** The order that the address names, such as DATA_USAGE.DESC; by the physical ID when it names none. */
export function orderOf(params: URLSearchParams): { field: string; direction: Direction } | null {
  const [field, direction] = (params.get('order') ?? '').split('.');
  const known = columns.some(({ order }) => order === field);
  return known ? { field: field!, direction: direction === 'DESC' ? 'DESC' : 'ASC' } : null;
}

function statesOf({ isBarred, isActive, networkState }: Row): string {
  return [isBarred && 'barred', isActive ? 'active' : 'inactive', networkState.isTransferring ? 'transferring' : networkState.isOnline ? 'online' : 'offline'].filter(Boolean).join(', ');
}

function tagsOf({ tags, numberOfTags }: Row): ReactNode {
  if (!tags?.length) return none;
  const others = (numberOfTags ?? 0) - tags.length;
  return (
    <span className="cell-chips">
      {tags.map(({ name }) => <a key={name} className="badge" href={toSubscribers({ tag: name })}>{name}</a>)}
      {others > 0 && <span className="hint">+{others}</span>}
    </span>
  );
}

function rentalOf({ lineRental, tariff }: Row): string | null {
  if (lineRental === null || !tariff) return null;
  const format = new Intl.NumberFormat('en', { style: 'currency', currency: tariff.currency });
  return format.format(lineRental / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
}
