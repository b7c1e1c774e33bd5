import { expect, test } from 'vitest';
import { ofChart } from './note';

const [from, to] = ['2026-11-01T00:00:00Z', '2026-11-08T00:00:00Z'];
const company = { groupId: { eq: null }, physicalId: { eq: null } };
const about = (of: Parameters<typeof ofChart>[0]) => ofChart(of, from, to).and?.[1];

test('a chart has the notes that begin in its span, and those that reach into it', () => {
  expect(ofChart({}, from, to)).toMatchObject({ startsAt: { lt: to }, and: [{ or: [{ startsAt: { ge: from } }, { endsAt: { gt: from } }] }, {}] });
});

test('a chart of the company has the notes about it and its groups, and none about single subscribers', () => {
  expect(about({})).toEqual({ physicalId: { eq: null } });
});

test('a chart of a group or a subscriber has its notes, and those of what it is a part of', () => {
  expect(about({ groupId: 12 })).toEqual({ or: [company, { groupId: { eq: '12' } }] });
  expect(about({ physicalId: 'p', groupId: 12 })).toEqual({ or: [company, { groupId: { eq: '12' } }, { physicalId: { eq: 'p' } }] });
  expect(about({ physicalId: 'p', groupId: null })).toEqual({ or: [company, { physicalId: { eq: 'p' } }] });
});
