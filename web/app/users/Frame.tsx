import type { ReactNode } from 'react';
import { to } from '../shell/route';
import { Tabs } from '../ui/Tabs';
import '../styles/lists.css';

/** The heading and the parts of the place Users. */
export const Frame = ({ current, children }: { current: 'users' | 'keys' | 'documents'; children: ReactNode }) => (
  <div className="page wide">
    <div className="heading"><h1>Users and keys</h1></div>
    <Tabs label="Parts of Users" tabs={[{ name: 'Users', href: to('users'), current: current === 'users' }, { name: 'Access keys', href: to('keys'), current: current === 'keys' }, { name: 'Trusted documents', href: to('documents'), current: current === 'documents' }]} />
    {children}
  </div>
);

/** A permission as people read it: VIEW_SUBSCRIBER is View Subscriber. */
export const permissionName = (permission: string): string =>
  permission.toLowerCase().split('_').map((word, i) => (i > 0 && ['the', 'of', 'a'].includes(word) ? word : word.charAt(0).toUpperCase() + word.slice(1))).join(' ').replace('a Users', "a User's");
