/** What an alert watches, in words. */
export const rules: Record<string, string> = {
  SIM: 'One subscriber',
  COMPANY: 'Each subscriber of the company',
  GROUPPR: 'A group together',
  GROUPFPTP: 'Each subscriber of a group',
};

export const mailStates: Record<string, string> = {
  WAITING: 'waiting', QUEUED: 'queued', SENT: 'sent', FAILED: 'failed', CANCELLED: 'cancelled', SUPPRESSED: 'suppressed', SILENCED: 'silenced',
};

/** The class of the badge of a state of mail. */
export const mailBadge = (state: string) => `badge ${state === 'SENT' ? 'good' : state === 'FAILED' || state === 'SUPPRESSED' ? 'upper' : ''}`;

export const weekdays = [
  { value: 'MONDAY', name: 'Monday' }, { value: 'TUESDAY', name: 'Tuesday' }, { value: 'WEDNESDAY', name: 'Wednesday' }, { value: 'THURSDAY', name: 'Thursday' },
  { value: 'FRIDAY', name: 'Friday' }, { value: 'SATURDAY', name: 'Saturday' }, { value: 'SUNDAY', name: 'Sunday' },
] as const;

export const alertKey = (alertId: number) => `alert/${alertId}`;
