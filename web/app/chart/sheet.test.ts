import { expect, test } from 'vitest';
import { seriesOf, sheetsOf } from './sheet';

test('a list of hours is a series, a list of names with a number a ranking', () => {
  const [series, ranking] = sheetsOf({
    company: {
      usage: {
        series: [{ start: '2026-11-01T00:00:00Z', total: '5' }, { start: '2026-11-01T01:00:00Z', total: '7' }],
        topSubscribers: [{ subscriber: { nickname: 'van' }, total: '12' }],
      },
    },
  });
  expect(series!.kind).toBe('series');
  expect(series!.columns.map(({ type, unit }) => [type, unit])).toEqual([['time', 'none'], ['number', 'bytes']]);
  expect(ranking!.kind).toBe('ranking');
  expect(ranking!.rows).toEqual([{ 'subscriber.nickname': 'van', total: '12' }]);
});

test('identifiers of digits stay text', () => {
  const [sheet] = sheetsOf({ subscribers: { nodes: [{ physicalId: '8944100000000000001', imsi: '234150000000001' }] } });
  expect(sheet!.columns.every(({ type }) => type === 'text')).toBe(true);
  expect(sheet!.kind).toBe('table');
});

test('an answer without lists and numbers has no sheet', () => expect(sheetsOf({ viewer: { email: 'a@b.example' } })).toEqual([]));

test('each value has a series of its own, and so have none and the others', () => {
  const points = (total: string) => [{ start: '2026-11-01T00:00:00Z', total }, { start: '2026-11-02T00:00:00Z', total: '0' }];
  const [sheet] = sheetsOf({
    company: {
      usage: {
        seriesBy: [
          { label: 'Vans', isOthers: false, points: points('9') },
          { label: null, isOthers: false, points: points('5') },
          { label: null, isOthers: true, points: points('2') },
        ],
      },
    },
  });
  expect(sheet!.kind).toBe('series');
  expect(seriesOf(sheet!).series.map(({ label, values }) => [label, values])).toEqual([['Vans', [9, 0]], ['(none)', [5, 0]], ['Others', [2, 0]]]);
});
