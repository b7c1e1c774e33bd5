import type { ReactNode } from 'react';

const icon = (children: ReactNode) => (
  <svg viewBox="0 0 24 24" width="18" height="18" fill="none" stroke="currentColor" strokeWidth="1.8" strokeLinecap="round" strokeLinejoin="round" aria-hidden="true">
    {children}
  </svg>
);

export const Sun = () => icon(<><circle cx="12" cy="12" r="4" /><path d="M12 2v2m0 16v2M4.9 4.9l1.4 1.4m11.4 11.4 1.4 1.4M2 12h2m16 0h2M4.9 19.1l1.4-1.4M17.7 6.3l1.4-1.4" /></>);
export const Moon = () => icon(<path d="M20 14.5A8.5 8.5 0 1 1 9.5 4a7 7 0 0 0 10.5 10.5Z" />);
export const Search = () => icon(<><circle cx="11" cy="11" r="7" /><path d="m20 20-4-4" /></>);
export const Bell = () => icon(<><path d="M6 9a6 6 0 1 1 12 0c0 6 2 7 2 7H4s2-1 2-7" /><path d="M10 20a2 2 0 0 0 4 0" /></>);
export const Menu = () => icon(<path d="M4 7h16M4 12h16M4 17h16" />);
export const Close = () => icon(<path d="m6 6 12 12M18 6 6 18" />);
export const Pencil = () => icon(<path d="M4 20h4L19 9l-4-4L4 16Zm9-13 4 4" />);
export const Link = () => icon(<path d="M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1m2 4a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1" />);
export const Bulb = () => icon(<path d="M9 18h6m-5 3h4M8.5 14.5A6 6 0 1 1 15.500 14.500c-.6.6-.9 1.500-1 3.500h-5c0-2-.4-2.900-1-3.500Z" />);
export const Calendar = () => icon(<><rect x="4" y="5" width="16" height="15" rx="2" /><path d="M4 10h16M8 3v4m8-4v4" /></>);
export const Previous = () => icon(<path d="m14 6-6 6 6 6" />);
export const Next = () => icon(<path d="m10 6 6 6-6 6" />);
export const Person = () => icon(<><circle cx="12" cy="8" r="4" /><path d="M4 21c1-5 4-6 8-6s7 1 8 6" /></>);

export const Mark = () => (
  <svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true">
    <rect width="32" height="32" rx="8" fill="var(--accent)" />
    <path d="M10 22 16 10l6 12M10 22h12" stroke="var(--on-accent)" strokeWidth="2" fill="none" />
    <g fill="var(--on-accent)"><circle cx="16" cy="9.5" r="3" /><circle cx="9.5" cy="22" r="3" /><circle cx="22.5" cy="22" r="3" /></g>
  </svg>
);
