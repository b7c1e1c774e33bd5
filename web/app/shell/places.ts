export interface Place {
  name: string;
  href: string;
}

/** The places of the page, in the groups of the side bar. */
export const placeGroups: { name: string; places: Place[] }[] = [
  {
    name: 'Fleet',
    places: [
      { name: 'Overview', href: '/#/' },
      { name: 'Subscribers', href: '/#/subscribers' },
      { name: 'Groups', href: '/#/groups' },
      { name: 'Tags', href: '/#/tags' },
      { name: 'Usage', href: '/#/usage' },
      { name: 'Dashboards', href: '/#/dashboards' },
    ],
  },
  {
    name: 'Watch',
    places: [
      { name: 'Alerts', href: '/#/alerts' },
      { name: 'Silences', href: '/#/alerts/silences' },
      { name: 'Log', href: '/#/alerts/log' },
    ],
  },
  {
    name: 'Run',
    places: [
      { name: 'Operations', href: '/#/operations' },
      { name: 'Sources', href: '/#/sources' },
      { name: 'Users', href: '/#/users' },
      { name: 'Audit', href: '/#/audit' },
    ],
  },
  {
    name: 'Build',
    places: [
      { name: 'Explore', href: '/#/explore' },
      { name: 'REST', href: '/docs' },
      { name: 'Handbook', href: '/docs/handbook' },
    ],
  },
];
