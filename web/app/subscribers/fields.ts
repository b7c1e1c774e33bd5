// What subscribers can be filtered by: the fields of SubscriberFilter, by kind.
export type Kind = 'text' | 'flag' | 'choice' | 'number' | 'bytes' | 'group' | 'date' | 'age' | 'set';

export interface Field {
  key: string;
  name: string;
  kind: Kind;
  /** Where the condition stands in the filter. */
  path: string[];
  /** Whether some subscribers have no value. */
  optional?: boolean;
  /** The values and their names. */
  choices?: [string, string][];
}

const field = (key: string, name: string, kind: Kind, more: Partial<Field> = {}): Field => ({ key, name, kind, path: [key], ...more });

export const fields: Field[] = [
  field('nickname', 'Nickname', 'text'),
  field('physicalId', 'Physical ID', 'text'),
  field('subscriberId', 'Subscriber ID', 'text'),
  field('imsi', 'IMSI', 'text'),
  field('fixedIpAddress', 'Fixed address', 'text', { optional: true }),
  field('dataNumber', 'Data number', 'text', { optional: true }),
  field('tags', 'Tag', 'set'),
  field('groupId', 'Group', 'group', { optional: true }),
  field('isActive', 'Active', 'flag'),
  field('isBarred', 'Barred', 'flag'),
  field('online', 'Online', 'flag', { path: ['networkState', 'isOnline'] }),
  field('transferring', 'Transferring', 'flag', { path: ['networkState', 'isTransferring'] }),
  field('dataUsage', 'Usage this period', 'bytes'),
  field('lastSeenAt', 'Last seen', 'age', { optional: true, choices: [['1', '1 hour'], ['6', '6 hours'], ['24', '24 hours'], ['72', '3 days'], ['168', '7 days'], ['720', '30 days']] }),
  field('operatorName', 'Operator', 'text'),
  field('operatorCode', 'Operator code', 'text'),
  field('tariffName', 'Tariff', 'text'),
  field('lineRental', 'Line rental', 'number'),
  field('contractLength', 'Contract in months', 'number', { optional: true }),
  field('connectionDate', 'Connected', 'date'),
  field('expiryDate', 'Contract ends', 'date'),
  field('terminateDate', 'Terminated', 'date', { optional: true }),
  field('kind', 'Kind', 'choice', { choices: [['CELLULAR', 'cellular'], ['NON_IP', 'non-IP'], ['SATELLITE', 'satellite']] }),
  field('subscriberType', 'Type', 'choice', { choices: [['PHYSICAL', 'physical'], ['VIRTUAL', 'virtual profile']] }),
  field('eid', 'EID', 'text', { optional: true }),
  field('smdpProvider', 'SM-DP+', 'text', { optional: true }),
  field('parent', 'On eUICC', 'text', { path: ['related', 'parent', 'physicalId'], optional: true }),
  field('parentEnabled', 'Enabled on eUICC', 'flag', { path: ['related', 'parent', 'isEnabledOnParent'] }),
  field('profile', 'Has profile', 'set', { path: ['related', 'profiles', 'physicalId'] }),
];

export const fieldOf = (key: string): Field | undefined => fields.find((field) => field.key === key);

export interface Operator {
  key: string;
  name: string;
  /** Whether it compares with nothing. */
  bare?: boolean;
}

const unset: Operator[] = [{ key: 'none', name: 'is not set', bare: true }, { key: 'some', name: 'is set', bare: true }];
const numbers: Operator[] = [{ key: 'gt', name: 'is above' }, { key: 'lt', name: 'is below' }, { key: 'eq', name: 'is' }, { key: 'ne', name: 'is not' }];

const operators: Record<Kind, Operator[]> = {
  text: [{ key: 'like', name: 'contains' }, { key: 'eq', name: 'is' }, { key: 'ne', name: 'is not' }, { key: 'in', name: 'is one of' }],
  flag: [{ key: 'yes', name: 'yes', bare: true }, { key: 'no', name: 'no', bare: true }],
  choice: [{ key: 'eq', name: 'is' }, { key: 'ne', name: 'is not' }],
  number: numbers,
  bytes: numbers.slice(0, 2),
  group: [{ key: 'eq', name: 'is' }, { key: 'ne', name: 'is not' }],
  date: [{ key: 'ge', name: 'is on or after' }, { key: 'lt', name: 'is before' }, { key: 'on', name: 'is on' }],
  age: [{ key: 'lt', name: 'is longer ago than' }, { key: 'ge', name: 'is within the last' }],
  set: [{ key: 'eq', name: 'is' }, { key: 'ne', name: 'is not' }, { key: 'in', name: 'is one of' }],
};

export const operatorsOf = ({ kind, optional }: Field): Operator[] => (optional ? [...operators[kind], ...unset] : operators[kind]);
