export interface Tab {
  name: string;
  href: string;
  current: boolean;
}

/** Links to the parts of a place. */
export const Tabs = ({ label, tabs }: { label: string; tabs: Tab[] }) => (
  <nav className="switch tabs" aria-label={label}>
    {tabs.map(({ name, href, current }) => <a key={name} href={href} aria-current={current ? 'true' : undefined}>{name}</a>)}
  </nav>
);
