import { bytes } from '../format/units';

/** What an alert watches, in words. */
export const rules: Record<string, string> = {
  SIM: 'One subscriber',
  COMPANY: 'Each subscriber of the company',
  GROUPPR: 'A group together',
  GROUPFPTP: 'Each subscriber of a group',
};

export const mailStates: Record<string, string> = {
  WAITING: 'waiting', QUEUED: 'queued', DELIVERED: 'sent', FAILED: 'failed', CANCELLED: 'cancelled', SUPPRESSED: 'suppressed', SILENCED: 'silenced',
};

/** The class of the badge of a state of mail. */
export const mailBadge = (state: string) => `badge ${state === 'DELIVERED' ? 'good' : state === 'FAILED' || state === 'SUPPRESSED' ? 'upper' : ''}`;

export const weekdays = [
  { value: 'MONDAY', name: 'Monday' }, { value: 'TUESDAY', name: 'Tuesday' }, { value: 'WEDNESDAY', name: 'Wednesday' }, { value: 'THURSDAY', name: 'Thursday' },
  { value: 'FRIDAY', name: 'Friday' }, { value: 'SATURDAY', name: 'Saturday' }, { value: 'SUNDAY', name: 'Sunday' },
] as const;

export const alertKey = (alertId: number) => `alert/${alertId}`;

interface Watching {
  ruleType: string;
  target: string | null;
  subscriber?: { physicalId: string; nickname: string | null } | null;
  group?: { name: string } | null;
}

/** Whom an alert watches, by name. */
export function nameOfWatched({ ruleType, target, subscriber, group }: Watching): string {
  const name = group?.name ?? `group ${target}`;
  switch (ruleType) {
    case 'COMPANY': return 'Each subscriber of the company';
    case 'GROUPFPTP': return `Each subscriber of ${name}`;
    case 'GROUPPR': return `${name} together`;
    default: return subscriber ? subscriber.nickname || subscriber.physicalId : target ?? '';
  }
}

/** What an alert of volume is called, such as "Each subscriber of Vans above 500 MB or 1 GB". */
export const nameOfVolume = (of: Watching & { lowerThreshold: string; upperThreshold: string; name?: string | null }): string =>
  of.name ?? `${nameOfWatched(of)} above ${of.lowerThreshold === of.upperThreshold ? '' : `${bytes(of.lowerThreshold)} or `}${bytes(of.upperThreshold)}`;

/** Recipients whose mail a server refused. */
export const refused = { suppressedReason: { eq: 'REFUSED' as const } };
