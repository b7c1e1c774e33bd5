// Places of the page stand in the fragment, which never leaves the browser:
// #/, #/subscribers?…, #/subscribers/ID, #/explore?….
import { useSyncExternalStore } from 'react';

export interface Route {
  view: 'overview' | 'subscribers' | 'subscriber' | 'explore';
  physicalId: string;
  params: URLSearchParams;
}

function read(): Route {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?', 2);
  const [first = '', second = ''] = path.split('/');
  const params = new URLSearchParams(query);
  if (first === 'subscribers' && second) return { view: 'subscriber', physicalId: decodeURIComponent(second), params };
  if (first === 'subscribers') return { view: 'subscribers', physicalId: '', params };
  if (first === 'explore' || (first === '' && location.pathname === '/graphql')) return { view: 'explore', physicalId: '', params };
  return { view: 'overview', physicalId: '', params };
}

let key = '';
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
