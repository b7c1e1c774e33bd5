import type { Place } from './Bar';

const places = [
  { name: 'Overview', href: '/#/' },
  { name: 'Subscribers', href: '/#/subscribers' },
  { name: 'Alerts', href: '/#/alerts' },
  { name: 'Groups', href: '/#/groups' },
  { name: 'Tags', href: '/#/tags' },
  { name: 'Operations', href: '/#/operations' },
  { name: 'Sources', href: '/#/sources' },
  { name: 'Users', href: '/#/users' },
  { name: 'Audit', href: '/#/audit' },
  { name: 'Explore', href: '/#/explore' },
  { name: 'REST', href: '/docs' },
  { name: 'Clients', href: '/docs/clients' },
];

/** The places of the bar, of which one is the current. */
export const placesAt = (current: string | null): Place[] => places.map((place) => ({ ...place, current: place.name === current }));
