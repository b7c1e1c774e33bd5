// Ready questions: of the same kind as those that are kept.
import type { Definition } from './question';

export interface Ready {
  name: string;
  description: string;
  definition: Definition;
}

const all = { measure: 'TOTAL', interval: 'DAY', split: null, firstDay: null, lastDay: null, compare: null, groupId: null, tagName: null, physicalId: null } as const;

export const ready: Ready[] = [
  { name: 'Usage by group by day, last month', description: 'Which group used how much on which day', definition: { ...all, chart: 'STACKED', split: 'GROUP', span: 'LAST_MONTH' } },
  { name: 'This billing period against the one before', description: 'Usage by day, to the same day', definition: { ...all, chart: 'BARS', span: 'THIS_PERIOD', compare: 'BEFORE' } },
  { name: 'Which tariff is outgrown', description: 'Tariffs by how much more they use than in the month before', definition: { ...all, chart: 'RISERS', split: 'TARIFF', span: 'LAST_MONTH', compare: 'BEFORE' } },
  { name: 'Roaming by country, this quarter against the last', description: 'To the same day of the quarter', definition: { ...all, chart: 'TOP', split: 'COUNTRY', span: 'THIS_QUARTER', compare: 'BEFORE' } },
  { name: 'Nights versus days', description: 'The hours of the week in which data is used, over 30 days', definition: { ...all, chart: 'HEAT_MAP', interval: 'HOUR', span: 'LAST_30_DAYS' } },
  { name: 'Top risers of the week', description: 'Subscribers that use the most more than in the week before', definition: { ...all, chart: 'RISERS', split: 'SUBSCRIBER', span: 'THIS_WEEK', compare: 'BEFORE' } },
  { name: 'Usage by operator by week, this quarter', description: 'Which network carries the fleet', definition: { ...all, chart: 'LINE', interval: 'WEEK', split: 'OPERATOR', span: 'THIS_QUARTER' } },
  { name: 'Sessions by hour, 7 days', description: 'When devices connect', definition: { ...all, measure: 'SESSIONS', chart: 'LINE', interval: 'HOUR', span: 'LAST_7_DAYS', compare: 'BEFORE' } },
];
