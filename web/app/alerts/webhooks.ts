/** The events of webhooks, in words. */
export const events: Record<string, string> = {
  ALERT_FIRED: 'An alert fired', ALERT_RESOLVED: 'What a condition noticed is over', SOURCE_SILENT: 'A source of usage is silent',
  SUBSCRIBER_CHANGED: 'Subscribers changed', OPERATION_FINISHED: 'An operation finished',
};

export const formats: Record<string, string> = { CLOUDEVENTS: 'CloudEvents', SLACK: 'Slack', TEAMS: 'Microsoft Teams' };

/** Why a webhook gets no events, in words. */
export const disabledReasons: Record<string, string> = {
  USER: 'It was disabled here.', GONE: 'It answered 410 Gone.', FAILING: 'No request to it succeeded for five days.',
};

/** The states of mails and of messages to webhooks, which are never cancelled. */
export const deliveryStates: Record<string, { name: string; badge: string }> = {
  QUEUED: { name: 'queued', badge: 'badge' }, DELIVERED: { name: 'delivered', badge: 'badge good' }, FAILED: { name: 'given up', badge: 'badge upper' },
  CANCELLED: { name: 'cancelled', badge: 'badge' },
};

/** Webhooks that get nothing: requests to them fail, or they were disabled for that. */
export const failing = { or: [{ failingSince: { ne: null } }, { disabledReason: { in: ['FAILING' as const, 'GONE' as const] } }] };
