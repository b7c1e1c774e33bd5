// Places of the page stand in the fragment, which never leaves the browser:
// #/, #/subscribers?…, #/subscribers/ID, #/sources, #/explore?…. Any other is unknown.
import { useSyncExternalStore } from 'react';

export interface Route {
  view: 'overview' | 'subscribers' | 'subscriber' | 'sources' | 'explore' | 'unknown';
  physicalId: string;
  params: URLSearchParams;
}

function read(): Route {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?', 2);
  const params = new URLSearchParams(query);
  const to = (view: Route['view'], physicalId = ''): Route => ({ view, physicalId, params });
  const [first, second, ...more] = path.replace(/\/$/, '').split('/');
  if (more.length > 0) return to('unknown');
  if (first === 'subscribers' && second !== undefined) {
    const physicalId = decoded(second);
    return physicalId ? to('subscriber', physicalId) : to('unknown');
  }
  if (second !== undefined) return to('unknown');
  if (first === '') return to(location.pathname === '/graphql' ? 'explore' : 'overview');
  return to(first === 'subscribers' || first === 'sources' || first === 'explore' ? first : 'unknown');
}

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

function snapshot(): Route {
  if (location.hash !== key) {
    key = location.hash;
    route = read();
  }
  return route;
}

export const useRoute = (): Route =>
  useSyncExternalStore((listener) => {
    addEventListener('hashchange', listener);
    return () => removeEventListener('hashchange', listener);
  }, snapshot);

export const toSubscriber = (physicalId: string) => `#/subscribers/${encodeURIComponent(physicalId)}`;
export const toSubscribers = (params: Record<string, string> = {}) => {
  const query = new URLSearchParams(params).toString();
  return `#/subscribers${query && `?${query}`}`;
};
export const go = (hash: string) => {
  location.hash = hash;
};
