// Places of the page stand in the fragment, which never leaves the browser, such as
// #/subscribers?…, #/subscribers/ID or #/alerts/log. Any other is unknown.
import { useSyncExternalStore } from 'react';
import { isUnsaved, leaveBy } from './unsaved';

// A colon stands for an identifier. The first that fits counts.
const places = {
  overview: '',
  subscribers: 'subscribers',
  subscriber: 'subscribers/:',
  alerts: 'alerts',
  alertLog: 'alerts/log',
  conditions: 'alerts/conditions',
  silences: 'alerts/silences',
  recipients: 'alerts/recipients',
  webhooks: 'alerts/webhooks',
  newAlert: 'alerts/new',
  alert: 'alerts/:',
  groups: 'groups',
  group: 'groups/:',
  tags: 'tags',
  tag: 'tags/:',
  users: 'users',
  keys: 'users/keys',
  documents: 'users/documents',
  operations: 'operations',
  newOperation: 'operations/new',
  operation: 'operations/:',
  usage: 'usage',
  dashboards: 'dashboards',
  dashboard: 'dashboards/:',
  audit: 'audit',
  sources: 'sources',
  connect: 'sources/connect',
  connectBy: 'sources/connect/:',
  source: 'sources/named/:',
  upstream: 'sources/accounts/:',
  sourceProfiles: 'sources/profiles',
  newSourceProfile: 'sources/new-profile',
  sourceProfile: 'sources/profiles/:',
  explore: 'explore',
} as const;

export type View = keyof typeof places;

export interface Route {
  view: View | 'unknown';
  /** What the address names, such as a physicalId. */
  id: string;
  params: URLSearchParams;
}

function read(): Route {
  const [path = '', ...query] = location.hash.replace(/^#\/?/, '').split('?');
  const params = new URLSearchParams(query.join('?'));
  const parts = path.replace(/\/$/, '').split('/').map(decoded);
  if (parts[0] === '' && parts.length === 1 && location.pathname === '/graphql') return { view: 'explore', id: '', params };
  const found = (Object.keys(places) as View[]).find((view) => fits(places[view].split('/'), parts));
  return { view: found ?? 'unknown', id: (found && parts[places[found].split('/').indexOf(':')]) || '', params };
}

const fits = (pattern: string[], parts: (string | null)[]) =>
  pattern.length === parts.length && pattern.every((part, i) => (part === ':' ? Boolean(parts[i]) : part === parts[i]));

/** The text of a part of the address, or null when its percent-encoding is damaged. */
function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}

let key = location.hash;
let route = read();

// Before the listeners of views: an address that is left by Back or a link, where
// something was typed, stays until the person agrees.
addEventListener('hashchange', (event) => {
  const wanted = location.hash;
  if (wanted === key || !isUnsaved()) return;
  event.stopImmediatePropagation();
  history.pushState(null, '', key || '#/');
  leaveBy(() => go(wanted));
});

function snapshot(): Route {
  if (location.hash !== key) {
    key = location.hash;
    route = read();
  }
  return route;
}

const listeners = new Set<() => void>();

export const useRoute = (): Route =>
  useSyncExternalStore((listener) => {
    listeners.add(listener);
    addEventListener('hashchange', listener);
    return () => {
      listeners.delete(listener);
      removeEventListener('hashchange', listener);
    };
  }, snapshot);

export type Params = Record<string, string> | URLSearchParams;

/** The address of a view; of one that names something, with its identifier. */
export function to(view: View, params: Params = {}, id = ''): string {
  const query = new URLSearchParams(params).toString();
  return `#/${places[view].replace(':', encodeURIComponent(id))}${query && `?${query}`}`;
}

export const toSubscriber = (physicalId: string) => to('subscriber', {}, physicalId);
export const toSubscribers = (params: Params = {}) => to('subscribers', params);

/** The parameters with some changed. Another filter or order begins a list anew: a cursor belongs to its list. */
export function changed(params: URLSearchParams, changes: Record<string, string | string[] | null>): URLSearchParams {
  const next = new URLSearchParams(params);
  for (const key of ['after', 'from', ...Object.keys(changes)]) next.delete(key);
  for (const [key, value] of Object.entries(changes)) for (const one of [value ?? []].flat()) if (one) next.append(key, one);
  return next;
}

/** Goes to an address and draws it at once. The browser reports the change only later: until then a ticked box would show its old state, and a second tick would undo the first. */
export const go = (hash: string) => {
  location.hash = hash;
  snapshot();
  for (const listener of listeners) listener();
};
