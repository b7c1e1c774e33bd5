// The tabs of a subscriber's page, and their addresses.
import { to } from '../shell/route';

export const tabs = [['usage', 'Usage'], ['sessions', 'Sessions'], ['alerts', 'Alerts'], ['history', 'History']] as const;
export type Tab = (typeof tabs)[number][0];

/** The tab that an address names. One with a span of sessions and no tab is of the time before there were tabs. */
export const tabOf = (params: URLSearchParams): Tab => tabs.find(([key]) => key === params.get('tab'))?.[0] ?? (params.has('from') ? 'sessions' : 'usage');

/** The address of a tab. It keeps the span of the usage, for the way back to it. */
export function toTab(physicalId: string, tab: Tab, params: URLSearchParams, more: Record<string, string> = {}): string {
  const span = params.get('span');
  return to('subscriber', { ...(tab !== 'usage' && { tab }), ...(span !== null && { span }), ...more }, physicalId);
}
