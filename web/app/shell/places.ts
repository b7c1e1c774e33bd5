import type { Place } from './Bar';

const places = [
  { name: 'Overview', href: '/#/' },
  { name: 'Subscribers', href: '/#/subscribers' },
  { name: 'Sources', href: '/#/sources' },
  { name: 'Explore', href: '/#/explore' },
  { name: 'REST', href: '/docs' },
  { name: 'Clients', href: '/docs/clients' },
];

/** The places of the bar, of which one is the current. */
export const placesAt = (current: string | null): Place[] => places.map((place) => ({ ...place, current: place.name === current }));
