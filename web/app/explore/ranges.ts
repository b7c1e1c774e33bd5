import { lastDays, lastHours, lastMonth, periodSpan, type Span } from '../format/span';
import type { Viewer } from '../shell/viewer';

type Company = Viewer['company'];

/** The time presets of the editor. */
export const presets: { name: string; span: (company: Company) => Span }[] = [
  { name: '24 h', span: () => lastHours(24) },
  { name: '7 days', span: ({ timeZone }) => lastDays(7, timeZone) },
  { name: '30 days', span: ({ timeZone }) => lastDays(30, timeZone) },
  { name: 'This period', span: ({ currentPeriod }) => periodSpan(currentPeriod) },
  { name: 'Last month', span: ({ timeZone }) => lastMonth(timeZone) },
];
