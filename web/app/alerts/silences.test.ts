import { expect, test } from 'vitest';
import { covers, type Lists, type Place } from './silences';

const none: Lists = { alertIds: [], groupIds: [], tagNames: [], physicalIds: [] };
const van: Place = { kind: 'subscriber', name: 'Van', physicalId: '8944', groupId: 3, tags: ['north'] };
const vans: Place = { kind: 'group', name: 'Vans', groupId: 3 };
const alert: Place = { kind: 'alert', name: 'Vans together', alertId: 7 };

test('a silence of every alert covers each place', () => {
  for (const place of [van, vans, alert, { kind: 'all', name: '' } as const]) expect(covers(none, place)).toBe('all');
});

test('a silence covers a place that all of its lists name', () => {
  const cases: [Partial<Lists>, Place, string][] = [
    [{ physicalIds: ['8944'] }, van, 'all'],
    [{ physicalIds: ['8945'] }, van, 'nothing'],
    [{ groupIds: [3] }, van, 'all'],
    [{ groupIds: [4], physicalIds: ['8944'] }, van, 'nothing'],
    [{ tagNames: ['north', 'south'] }, van, 'all'],
    [{ tagNames: ['south'] }, van, 'nothing'],
    [{ groupIds: [3], alertIds: [7] }, van, 'part'],
    [{ groupIds: [3] }, vans, 'all'],
    [{ groupIds: [4] }, vans, 'nothing'],
    [{ groupIds: [3], tagNames: ['north'] }, vans, 'part'],
    [{ tagNames: ['north'] }, vans, 'nothing'],
    [{ alertIds: [7] }, alert, 'all'],
    [{ alertIds: [7], groupIds: [3] }, alert, 'part'],
    [{ physicalIds: ['8944'] }, alert, 'nothing'],
    [{ groupIds: [3] }, { kind: 'all', name: '' }, 'nothing'],
  ];
  for (const [lists, place, expected] of cases) expect(covers({ ...none, ...lists }, place), JSON.stringify([lists, place])).toBe(expected);
});

test('a subscriber without a group is in none', () => {
  expect(covers({ ...none, groupIds: [3] }, { kind: 'subscriber', name: '', physicalId: '8944' })).toBe('nothing');
});
